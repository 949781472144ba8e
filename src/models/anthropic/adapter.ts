/**
 * Calls Anthropic's Messages by their own client library, which brings requests there and decides nothing: retries, silences,
 * redirects, credentials, events and the end of a reply are ours to say. Never prints. Load it lazily: the library is large.
 */
import Anthropic from '@anthropic-ai/sdk';
import { APIError } from '@anthropic-ai/sdk';
import type { Usage } from '../../domain/budget.ts';
import { CallId, ModelId } from '../../domain/ids.ts';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Json, ModelReply, StopReason, ToolCall } from '../../domain/turn.ts';
import type { Delta, ModelFault, ModelRequest } from '../../ports/model.ts';
import type { World } from '../../ports/world.ts';
import { eventsIn } from '../http/events.ts';
import {
  causesOf,
  connectionFault,
  eventFault,
  field,
  hostOf,
  pageWords,
  redact,
  statusFault,
  stoppedFault,
  NOT_SAID_USED,
  unknownStop,
} from '../http/fault.ts';
import { parsed } from '../http/json.ts';
import { openSwitchboard, type Switchboard } from '../http/per-request-fetch.ts';
import { type Watch, watchStream } from '../http/stream-timeout.ts';
import { parseArguments } from '../http/strict-json.ts';
import { headOf, openWire, unanswered, type Wire } from '../http/transport.ts';
import { type Caller, toolCallId } from '../provider.ts';
import { BETWEEN, packed, type Part } from './opaque.ts';
import { type Block, MessageReader, type Progress } from './reply.ts';
import { type Asked, askedOf, FORM_TOOL, type Learned, openLearned } from './wire.ts';

/** Longer than any call of ours: how long one may be silent is the watch's to say. */
const CLIENT_TIMEOUT = 24 * 60 * 60_000;
/** The library adds it: many write it into the base URL, as other makers want it. */
const OWN_PATH = /\/v1(?:\/messages)?\/*$/;
/** Milliseconds that counting may take: an estimate is at hand. */
const COUNT_TIMEOUT = 10_000;
/** Milliseconds that a connection gets to close in order after the last event, to be used again. */
const CLOSING = 250;

/** Calls of one provider as it was set up. Holds nothing between two calls but what its server turned out not to take. */
export function anthropicCaller(setup: ProviderSetup, world: World): Caller {
  const board = openSwitchboard();
  const parts: Parts = { setup, world, learned: openLearned(), board, client: clientOf(setup, board) };
  return {
    async call(request, signal, onDelta) {
      for (;;) {
        const asked = askedOf(request, parts.learned.allowed(request));
        const came = await oneCall(parts, { request, ...asked }, signal, onDelta);
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
  readonly board: Switchboard;
  readonly client: Anthropic;
}

interface Call extends Asked {
  readonly request: ModelRequest;
}

async function oneCall(
  parts: Parts,
  { request, body, formed }: Call,
  signal: AbortSignal,
  onDelta: (delta: Delta) => void,
): Promise<Result<ModelReply, ModelFault>> {
  const { setup, world } = parts;
  const watch = watchStream(setup, world, signal);
  const wire = openWire(setup, bearer, watch.beat);
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
    if (!read.ok) return fail({ ...stoppedFault(setup, read.fault, watch), ...spentWhenStopped(reader, wire) });
    if (read.value !== null) return fail({ ...read.value, ...spent() });
    const reply = replyOf(reader.progress(), request, { provider: setup.name, formed });
    if (reply.ok) return reply;
    return fail({ ...noReplyFault(setup, wire, reply.fault), ...spent() });
  } finally {
    watch.end();
  }
}

/** The client library with everything said that it would look for in the environment or on the disk. */
const clientOf = (setup: ProviderSetup, { fetch }: Switchboard): Anthropic =>
  new Anthropic({
    // Some word: without one it looks elsewhere. What is sent is the wire's to say.
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

const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` });

interface Streaming {
  readonly answer: Promise<Response>;
  readonly reader: MessageReader;
  readonly wire: Wire;
  readonly watch: Watch;
  readonly onDelta: (delta: Delta) => void;
}

/** Reads the answer to its end; the fault that it ended with, or null. */
async function readAll({ setup, world }: Parts, streaming: Streaming): Promise<ModelFault | null> {
  const { wire } = streaming;
  const response = await caught(streaming.answer);
  if (!response.ok) return thrownFault({ setup, world, wire }, response.fault);
  const { body } = response.value;
  if (!isStream(wire)) return typeFault(setup, wire, await headOf(response.value));
  return body === null ? null : readEvents({ setup, world }, streaming, eventsIn(body));
}

async function readEvents(
  { setup, world }: Pick<Parts, 'setup' | 'world'>,
  streaming: Streaming,
  events: AsyncGenerator<string>,
): Promise<ModelFault | null> {
  const { reader, wire, watch } = streaming;
  while (!reader.complete) {
    const next = await caught(events.next());
    // Nobody listens any more.
    if (watch.why() !== null) return null;
    if (!next.ok) return thrownFault({ setup, world, wire }, next.fault);
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

/** One event, as text. The fault that it is, or null. */
function takeEvent(setup: ProviderSetup, { reader, watch, onDelta }: Streaming, text: string): ModelFault | null {
  if (text === '') return null;
  const event = parsed(text);
  if (event === undefined) return malformedFault(setup, 'an event is no JSON');
  if (field(event, 'type') === 'error') return eventFault(setup, event);
  const before = reader.content;
  const taken = reader.take(event);
  if (!taken.ok) return malformedFault(setup, taken.fault);
  if (reader.content > before) watch.said();
  if (taken.value !== null && taken.value !== 'other') onDelta(taken.value);
  return null;
}

/** Nobody waits for it: a connection that is read to its end can be used again, and one that stays open is closed. */
async function readOut(world: World, iterator: AsyncIterator<unknown>): Promise<void> {
  const closed = new AbortController();
  await Promise.race([caught(iterator.next()), world.sleep(CLOSING, closed.signal)]);
  closed.abort('over');
  void closeStream(iterator);
}

const closeStream = (iterator: AsyncIterator<unknown>): Promise<unknown> =>
  caught(Promise.resolve(iterator.return?.()));

/** What the library throws is the way it tells of faults. */
const caught = async <T>(work: Promise<T>): Promise<Result<T, unknown>> => {
  try {
    return ok(await work);
  } catch (error) {
    return fail(error);
  }
};

/** Nothing is billed before a message began. */
function spentSoFar(reader: MessageReader, wire: Wire): { readonly spent?: Usage } {
  return reader.begun ? { spent: reader.spent({ sent: wire.sent(), came: wire.bytes() }) } : {};
}

/** Whoever hangs up before the first word doesn't know whether the work had begun: what was sent counts as read. */
function spentWhenStopped(reader: MessageReader, wire: Wire): { readonly spent?: Usage } {
  if (wire.head() !== null || wire.sent() === 0) return spentSoFar(reader, wire);
  return { spent: unanswered(wire) };
}

async function count(
  { setup, world, learned, board, client }: Parts,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<number | null> {
  const times = { firstEventMs: COUNT_TIMEOUT, idleMs: COUNT_TIMEOUT };
  const watch = watchStream(times, world, signal);
  const wire = openWire(setup, bearer, watch.beat);
  try {
    const { body } = askedOf(request, learned.allowed(request));
    const asked = board.over(wire.fetch, async (headers) =>
      client.post<unknown>('/v1/messages/count_tokens', { body, signal: watch.signal, headers }),
    );
    const told = await watch.unlessStopped(caught(asked));
    const tokens = told.ok && told.value.ok ? field(told.value.value, 'input_tokens') : null;
    return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : null;
  } finally {
    watch.end();
  }
}

// What Anthropic's client library throws, and what comes of a stream that is no reply, in the words of `ModelFault`.

interface Failing {
  readonly setup: ProviderSetup;
  readonly world: Pick<World, 'now'>;
  readonly wire: Wire;
}

/** What undoing a compression, or our own limit, says of a body. */
const UNREADABLE = /\bZ_|ERR_ZLIB|too large|incorrect (?:header|data)|invalid (?:block|code|distance|stored)/;

/** The library's errors in our words: the response said no, the connection failed, or what came can't be read. */
function thrownFault({ setup, world, wire }: Failing, error: unknown): ModelFault {
  const status = field(error, 'status');
  if (error instanceof APIError && typeof status === 'number') {
    const headers = headersOf(error);
    // A body that was no JSON is in the message only, behind the status.
    const body = field(error, 'error') ?? error.message.replace(/^\d+ /, '');
    return statusFault(setup, { status, headers, body, now: world.now() });
  }
  if (wire.head() === null) return connectionFault(setup, error);
  if (UNREADABLE.test(causesOf(error).join(' '))) return malformedFault(setup, 'its content can not be read');
  return { is: 'cut', message: `${hostOf(setup)} broke off its reply: the connection ended` };
}

const malformedFault = (setup: ProviderSetup, why: string): ModelFault => ({
  is: 'malformed',
  message: `${hostOf(setup)} answered with something that is no reply: ${redact(why, setup)}`,
});

/** Is what comes a stream of events? */
const isStream = (wire: Wire): boolean => /^text\/event-stream\b/i.test(wire.head()?.type ?? '');

/** A whole answer that is something else and says `text`: the page of a proxy, an error that was sent as if all were well. */
function typeFault(setup: ProviderSetup, wire: Wire, text: string): ModelFault {
  const json = parsed(text);
  if (field(json, 'error') !== undefined) return eventFault(setup, json);
  const type = wire.head()?.type ?? '';
  const words = pageWords(text).trim();
  return malformedFault(
    setup,
    `its type is ${type === '' ? 'not said' : type}, not text/event-stream. Is the base URL right?${words === '' ? '' : ` It says: ${words}`}`,
  );
}

function noReplyFault(setup: ProviderSetup, wire: Wire, { is, why }: NoReply): ModelFault {
  if (is === 'malformed') return malformedFault(setup, why);
  if (wire.bytes() === 0) return malformedFault(setup, 'it is empty');
  return { is: 'cut', message: `${hostOf(setup)} broke off its reply: ${why}` };
}

function headersOf(error: object): Headers | undefined {
  const headers = field(error, 'headers');
  return headers instanceof Headers ? headers : undefined;
}

// The reply that a finished stream is. Fails closed: it is one only when its end was told, and calls are given only when it says that it
// stopped for them and each of them is whole.

/** Why a stream is no reply: it ended too early, or it can't be understood. */
export interface NoReply {
  readonly is: 'cut' | 'malformed';
  readonly why: string;
}

const STOPS: ReadonlyMap<string, StopReason> = new Map([
  ['end_turn', 'end'],
  ['stop_sequence', 'end'],
  ['tool_use', 'tool use'],
  ['max_tokens', 'output limit'],
  ['model_context_window_exceeded', 'output limit'],
  // Not finished, to be gone on with; only tools of the provider's own cause it, and none are asked for.
  ['pause_turn', 'output limit'],
  ['refusal', 'refused'],
]);

/** Characters kept of arguments that are no JSON: enough for the model to see what it wrote. */
const LONGEST_RAW = 4000;

/** `provider`: for the canonical id of the model that answered. `formed`: the reply is the input of the tool for it. */
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
    ...(opaque === undefined ? {} : { opaque }),
  };
}

function stopOf({ model, stop, complete, blocks }: Progress): Result<StopReason, NoReply> {
  if (model === null || (stop === null && !complete))
    return fail({ is: 'cut', why: 'it ended before its end was told' });
  const stopped = STOPS.get(stop ?? '');
  if (stopped === undefined) return malformed(unknownStop(stop ?? 'none'));
  if (stopped !== 'tool use') return ok(stopped);
  if (!blocks.some(({ block }) => isCall(block))) return malformed('it stopped for tools, but calls none');
  if (blocks.some(({ ended }) => !ended)) return fail({ is: 'cut', why: 'a tool call in it has no end' });
  return ok(stopped);
}

/** Why no call of a whole reply may be carried out: what it is made of is not understood, or it is not what the provider sends. */
function againstCalls({ blocks, disorder, usage }: Progress, stopped: StopReason): string | null {
  if (stopped === 'end' && blocks.some(({ block }) => isCall(block)))
    return 'it calls tools, but did not stop for them';
  if (stopped !== 'tool use') return null;
  if (blocks.some(({ block }) => block.type === 'other'))
    return 'beside its tool calls stands a block of an unknown kind';
  if (disorder) return 'its blocks came out of order';
  return Number.isNaN(usage.input) || Number.isNaN(usage.output) ? NOT_SAID_USED : null;
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

/** Arguments stream after the block began; a server that does not stream them sends them with it. */
function inputOf(json: string, input: Json): Json {
  const text = json === '' ? JSON.stringify(input) : json;
  const parsed = parseArguments(text);
  // As it came: no tool takes a text for its input, so the model is told that this is none.
  return parsed.ok ? parsed.value : text.slice(0, LONGEST_RAW);
}

/** What the reply is made of, in order; nothing when there is nothing in it but reasoning. */
function partsOf(blocks: readonly Block[]): readonly Part[] {
  const parts = blocks.flatMap((block): readonly Part[] => {
    switch (block.type) {
      case 'text':
        return block.text.trim() === '' ? [] : [{ type: 'text', length: block.text.length }];
      case 'tool_use':
        return [{ type: 'call' }];
      case 'thinking':
        // Without its seal it would be refused.
        return block.signature === '' ? [] : [block];
      case 'redacted_thinking':
        return [block];
      default:
        return [];
    }
  });
  return parts.some(({ type }) => type === 'text' || type === 'call') ? parts : [];
}
