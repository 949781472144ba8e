/**
 * Calls Anthropic's Messages API through its client library, which only transports requests. Retries, silences, redirects,
 * credentials, events and the end of a reply are handled here. Load this module lazily: the library is large.
 */
import Anthropic, { APIError } from '@anthropic-ai/sdk';
import type { Usage } from '../../domain/budget.ts';
import { CallId, ModelId } from '../../domain/ids.ts';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import type { Json, ModelReply, StopReason, ToolCall } from '../../domain/turn.ts';
import type { Delta, ModelFault, ModelRequest } from '../../ports/model.ts';
import type { World } from '../../ports/world.ts';
import * as http from '../http/transport.ts';
import * as faults from '../http/fault.ts';
import { byWord, parseArguments, parsed } from '../http/json.ts';
import { type Caller, toolCallId } from '../provider.ts';
import { BETWEEN, packed, type Part } from './turns.ts';
import { type Block, MessageReader, type Progress } from './reply.ts';
import { type Asked, askedOf, FORM_TOOL, type Learned, openLearned } from './wire.ts';

/** Longer than any call: the watch decides how long a call may be silent. */
const CLIENT_TIMEOUT = 24 * 60 * 60_000;
/** The library appends this path, but many people include it in the base URL, as other providers require. */
const OWN_PATH = /\/v1(?:\/messages)?\/*$/;
/** How long, in milliseconds, a connection may take to close after the last event, so that it can be reused. */
const CLOSING = 250;

/** Calls of one configured provider. Between calls it remembers only what the server refused to accept. */
export function anthropicCaller(setup: ProviderSetup, world: World): Caller {
  const board = http.openRequestRouter();
  const parts: Parts = { setup, world, learned: openLearned(), board, client: clientOf(setup, board) };
  return {
    async call(request, signal, onDelta) {
      for (;;) {
        const asked = askedOf(request, parts.learned.allowed(request));
        const came = await oneCall(parts, request, asked, signal, onDelta);
        if (came.ok) return asked.withoutEffort ? ok({ ...came.value, withoutEffort: true }) : came;
        if (came.fault.is !== 'refused') return came;
        if (!parts.learned.take(request, asked.body, came.fault.message)) return came;
      }
    },
    count: (request, signal) => count(parts, request, signal),
  };
}

interface Parts {
  readonly setup: ProviderSetup;
  readonly world: World;
  readonly learned: Learned;
  readonly board: http.RequestRouter;
  readonly client: Anthropic;
}

async function oneCall(
  parts: Parts,
  request: ModelRequest,
  { body, formed }: Asked,
  signal: AbortSignal,
  onDelta: (delta: Delta) => void,
): Promise<Result<ModelReply, ModelFault>> {
  const { setup, world } = parts;
  const watch = http.watchStream(setup, world, signal);
  const wire = http.openWire(setup, watch.beat);
  const reader = new MessageReader(formed);
  const spent = (): Pick<ModelFault, 'spent'> => spentSoFar(reader, wire);
  try {
    const answer = parts.board.over(wire.fetch, (headers) =>
      parts.client
        .post('/v1/messages', {
          body: { ...body, max_tokens: request.maxOutputTokens, stream: true },
          stream: true,
          signal: watch.signal,
          headers,
        })
        .asResponse(),
    );
    const read = await watch.unlessStopped(readAll(parts, { answer, reader, wire, watch, onDelta }));
    if (!read.ok) return fail({ ...faults.stoppedFault(setup, read.fault, watch), ...spentWhenStopped(reader, wire) });
    if (read.value !== null) return fail({ ...read.value, ...spent() });
    const reply = replyOf(reader.progress(), request, { provider: setup.name, formed });
    if (reply.ok) return reply;
    return fail({ ...noReplyFault(setup, wire, reply.fault), ...spent() });
  } finally {
    watch.end();
  }
}

/** The client library with every setting given that it would otherwise read from the environment or the disk. */
const clientOf = (setup: ProviderSetup, { fetch }: http.RequestRouter): Anthropic =>
  new Anthropic({
    // The library requires a key; the wire decides what is sent.
    apiKey: setup.key ?? 'none',
    authToken: null,
    webhookKey: null,
    baseURL: setup.baseUrl.replace(OWN_PATH, ''),
    maxRetries: 0,
    timeout: CLIENT_TIMEOUT,
    logLevel: 'off',
    openTelemetry: false,
    fetch,
    fetchOptions: { redirect: 'error' },
  });

interface Streaming {
  readonly answer: Promise<Response>;
  readonly reader: MessageReader;
  readonly wire: http.Wire;
  readonly watch: http.Watch;
  readonly onDelta: (delta: Delta) => void;
}

/** Reads the answer to its end; returns the fault that ended it, or null. */
async function readAll({ setup, world }: Parts, streaming: Streaming): Promise<ModelFault | null> {
  const { wire } = streaming;
  const response = await caught(streaming.answer);
  if (!response.ok) return thrownFault({ setup, world }, wire, response.fault);
  const { body } = response.value;
  if (!isStream(wire)) return typeFault(setup, wire, await http.headOf(response.value));
  return body === null ? null : readEvents({ setup, world }, streaming, http.eventsIn(body));
}

async function readEvents(
  { setup, world }: Pick<Parts, 'setup' | 'world'>,
  streaming: Streaming,
  events: AsyncGenerator<string>,
): Promise<ModelFault | null> {
  const { reader, wire, watch } = streaming;
  while (!reader.complete) {
    const next = await caught(events.next());
    // The call was stopped meanwhile.
    if (watch.why() !== null) return null;
    if (!next.ok) return thrownFault({ setup, world }, wire, next.fault);
    if (next.value.done === true) return null;
    const fault = takeEvent(setup, streaming, next.value.value);
    if (fault !== null) {
      void closeStream(events);
      return fault;
    }
  }
  void readOut(world, events);
  return null;
}

/** Handles the text of one event; returns its fault, or null. */
function takeEvent(setup: ProviderSetup, { reader, watch, onDelta }: Streaming, text: string): ModelFault | null {
  if (text === '') return null;
  const event = parsed(text);
  if (event === undefined) return malformedFault(setup, 'an event is no JSON');
  if (faults.field(event, 'type') === 'error') return faults.eventFault(setup, event);
  const before = reader.content;
  const taken = reader.take(event);
  if (!taken.ok) return malformedFault(setup, taken.fault);
  if (reader.content > before) watch.said();
  if (taken.value !== null && taken.value !== 'other') onDelta(taken.value);
  return null;
}

/** Runs in the background: a connection read to its end can be reused, and one that stays open is closed. */
async function readOut(world: World, iterator: AsyncIterator<unknown>): Promise<void> {
  const closed = new AbortController();
  await Promise.race([caught(iterator.next()), world.sleep(CLOSING, closed.signal)]);
  closed.abort('over');
  void closeStream(iterator);
}

const closeStream = (iterator: AsyncIterator<unknown>): Promise<unknown> =>
  caught(Promise.resolve(iterator.return?.()));

/** Turns an error that the library throws into a value. */
const caught = async <T>(work: Promise<T>): Promise<Result<T, unknown>> => {
  try {
    return ok(await work);
  } catch (error) {
    return fail(error);
  }
};

/** Nothing is billed before a message began. */
function spentSoFar(reader: MessageReader, wire: http.Wire): { readonly spent?: Usage } {
  return reader.begun ? { spent: reader.spent({ sent: wire.sent(), came: wire.bytes() }) } : {};
}

/** After a stop before the first event it is unknown whether work had begun, so all that was sent counts as input. */
function spentWhenStopped(reader: MessageReader, wire: http.Wire): { readonly spent?: Usage } {
  if (wire.head() !== null || wire.sent() === 0) return spentSoFar(reader, wire);
  return { spent: http.unanswered(wire) };
}

const count = (
  { setup, world, learned, board, client }: Parts,
  request: ModelRequest,
  outside: AbortSignal,
): Promise<number | null> =>
  http.countedBy(setup, world, outside, async (wire, signal) => {
    const { body } = askedOf(request, learned.allowed(request));
    const told = await board.over(wire.fetch, async (headers) =>
      client.post<unknown>('/v1/messages/count_tokens', { body, signal, headers }),
    );
    return faults.field(told, 'input_tokens');
  });

// The library's errors, and streams that are not replies, as `ModelFault`.

/** Messages of decompression errors. */
const UNREADABLE = /\bZ_|ERR_ZLIB|incorrect (?:header|data)|invalid (?:block|code|distance|stored)/;

/** Tells apart an error response, a failed connection, and unreadable content. */
function thrownFault({ setup, world }: Pick<Parts, 'setup' | 'world'>, wire: http.Wire, error: unknown): ModelFault {
  const status = faults.field(error, 'status');
  if (error instanceof APIError && typeof status === 'number') {
    const headers = headersOf(error);
    // A body that is not JSON is only in the message, after the status.
    const body = faults.field(error, 'error') ?? error.message.replace(/^\d+ /, '');
    return faults.statusFault(setup, { status, headers, body, now: world.now() });
  }
  if (wire.head() === null) return faults.connectionFault(setup, error);
  if (error instanceof http.TooLarge) return malformedFault(setup, error.message);
  if (UNREADABLE.test(faults.causesOf(error).join(' '))) return malformedFault(setup, 'its content can not be read');
  return { is: 'cut', message: `${faults.hostOf(setup)} broke off its reply: the connection ended` };
}

const malformedFault = (setup: ProviderSetup, why: string): ModelFault => ({
  is: 'malformed',
  message: `${faults.hostOf(setup)} answered with something that is no reply: ${faults.redact(why, setup)}`,
});

/** True if the response is a stream of events. */
const isStream = (wire: http.Wire): boolean => /^text\/event-stream\b/i.test(wire.head()?.type ?? '');

/** The fault of a response of another type with the content `text`: a proxy's page, or an error with a status of success. */
function typeFault(setup: ProviderSetup, wire: http.Wire, text: string): ModelFault {
  const json = parsed(text);
  if (faults.field(json, 'error') !== undefined) return faults.eventFault(setup, json);
  const type = wire.head()?.type ?? '';
  const words = faults.pageWords(text).trim();
  return malformedFault(
    setup,
    `its type is ${type === '' ? 'not said' : type}, not text/event-stream. Is the base URL right?${words === '' ? '' : ` It says: ${words}`}`,
  );
}

function noReplyFault(setup: ProviderSetup, wire: http.Wire, { is, why }: NoReply): ModelFault {
  if (is === 'malformed') return malformedFault(setup, why);
  if (wire.bytes() === 0) return malformedFault(setup, 'it is empty');
  return { is: 'cut', message: `${faults.hostOf(setup)} broke off its reply: ${why}` };
}

function headersOf(error: object): Headers | undefined {
  const headers = faults.field(error, 'headers');
  return headers instanceof Headers ? headers : undefined;
}

// Turns a finished stream into a reply. Fails closed: it is a reply only if its end was announced, and it has calls only if it
// stopped for them and each of them is complete.

/** Why a stream is not a reply: it ended too early, or it is invalid. */
export interface NoReply {
  readonly is: 'cut' | 'malformed';
  readonly why: string;
}

/** A paused turn is treated as unfinished; only the provider's own tools cause one, and none are requested. */
const STOPS = byWord<StopReason>([
  ['end', 'end_turn stop_sequence'],
  ['tool use', 'tool_use'],
  ['output limit', 'max_tokens model_context_window_exceeded pause_turn'],
  ['refused', 'refusal'],
]);

/** The most characters kept of invalid arguments: enough for the model to recognise what it wrote. */
const LONGEST_RAW = 4000;

/** `provider` forms the canonical id of the model that answered. With `formed`, the reply is the input of `FORM_TOOL`. */
export function replyOf(
  progress: Progress,
  request: ModelRequest,
  { provider, formed }: { readonly provider: string; readonly formed: boolean },
): Result<ModelReply, NoReply> {
  const stopped = stopOf(progress);
  if (!stopped.ok) return stopped;
  const model = ModelId.safeParse(`${provider}/${progress.model ?? ''}`);
  if (!model.success) return malformed('it does not say which model answered');
  const blocks = progress.blocks.map(({ block }) => block);
  const form = formed && stopped.value === 'tool use' ? blocks.find(isForm) : undefined;
  if (form !== undefined)
    return ok({ text: form.json, calls: [], stopReason: 'end', usage: progress.usage, model: model.data });
  const why = againstCalls(progress, stopped.value);
  if (why !== null) return malformed(why);
  return ok({ ...contentOf(blocks, stopped.value, progress, request), usage: progress.usage, model: model.data });
}

function contentOf(
  blocks: readonly Block[],
  stopReason: StopReason,
  { explanation }: Progress,
  request: ModelRequest,
): Pick<ModelReply, 'text' | 'calls' | 'stopReason' | 'opaque'> {
  const text = textOf(blocks);
  const calls = stopReason === 'tool use' ? blocks.filter(isCall) : [];
  const whole = stopReason === 'tool use' || stopReason === 'end';
  const opaque = whole ? packed(request.model, request.turns, partsOf(blocks)) : undefined;
  return {
    text: text === '' && stopReason === 'refused' ? explanation : text,
    calls: calls.map((call, at) => callOf(call, request, at)),
    stopReason,
    ...defined({ opaque }),
  };
}

function stopOf({ model, stop, complete, blocks }: Progress): Result<StopReason, NoReply> {
  if (model === null || (stop === null && !complete))
    return fail({ is: 'cut', why: 'it ended before its end was told' });
  const stopped = STOPS.get(stop ?? '');
  if (stopped === undefined) return malformed(faults.unknownStop(stop ?? 'none'));
  if (stopped !== 'tool use') return ok(stopped);
  if (!blocks.some(({ block }) => isCall(block))) return malformed('it stopped for tools, but calls none');
  if (blocks.some(({ ended }) => !ended)) return fail({ is: 'cut', why: 'a tool call in it has no end' });
  return ok(stopped);
}

/** Why no call of a complete reply may be executed: it has unknown parts, or is not what the provider sends. Null if they may. */
function againstCalls({ blocks, disorder, usage }: Progress, stopped: StopReason): string | null {
  if (stopped === 'end' && blocks.some(({ block }) => isCall(block)))
    return 'it calls tools, but did not stop for them';
  if (stopped !== 'tool use') return null;
  if (blocks.some(({ block }) => block.type === 'other'))
    return 'beside its tool calls stands a block of an unknown kind';
  if (disorder) return 'its blocks came out of order';
  return Number.isNaN(usage.input) || Number.isNaN(usage.output) ? faults.NOT_SAID_USED : null;
}

const malformed = (why: string): { readonly ok: false; readonly fault: NoReply } => fail({ is: 'malformed', why });

type CallBlock = Extract<Block, { type: 'tool_use' }>;
const isCall = (block: Block): block is CallBlock => block.type === 'tool_use';
const isForm = (block: Block): block is CallBlock => isCall(block) && block.name === FORM_TOOL;

const textOf = (blocks: readonly Block[]): string =>
  blocks.flatMap((block) => (block.type === 'text' && block.text.trim() !== '' ? [block.text] : [])).join(BETWEEN);

function callOf({ id, name, json, input }: CallBlock, request: ModelRequest, at: number): ToolCall {
  const given = CallId.safeParse(id);
  return { id: given.success ? given.data : toolCallId(request, at), tool: name, input: inputOf(json, input) };
}

/** Arguments usually stream after the block began; a server without that sends them with it. */
function inputOf(json: string, input: Json): Json {
  const text = json === '' ? JSON.stringify(input) : json;
  const parsed = parseArguments(text);
  // Invalid input stays text: no tool accepts a text as input, so the model gets an error.
  return parsed.ok ? parsed.value : text.slice(0, LONGEST_RAW);
}

/** The parts of the reply in order; empty if it contains only reasoning. */
function partsOf(blocks: readonly Block[]): readonly Part[] {
  const parts = blocks.flatMap((block): readonly Part[] => {
    switch (block.type) {
      case 'text':
        return block.text.trim() === '' ? [] : [{ type: 'text', length: block.text.length }];
      case 'tool_use':
        return [{ type: 'call' }];
      case 'thinking':
        // Unsigned reasoning would be refused.
        return block.signature === '' ? [] : [block];
      case 'redacted_thinking':
        return [block];
      default:
        return [];
    }
  });
  return parts.some(({ type }) => type === 'text' || type === 'call') ? parts : [];
}
