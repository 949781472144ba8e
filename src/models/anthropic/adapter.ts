/** Calls Anthropic's Messages API and makes a reply of a finished stream. Fails closed: it is a reply only if its end was announced, and it
 * has calls only if it stopped for them and each of them is complete. */
import Anthropic from '@anthropic-ai/sdk';
import { CallId, ModelId } from '../../domain/ids.ts';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import type { Json, ModelReply, StopReason, ToolCall } from '../../domain/turn.ts';
import type { Delta, ModelRequest } from '../../ports/model.ts';
import type { World } from '../../ports/world.ts';
import { exchange, type Reader, type Reading } from '../http/exchange.ts';
import * as faults from '../http/fault.ts';
import { byWord, parseArguments, textAt } from '../http/json.ts';
import { countInput, type Post, type Server, serverOf } from '../http/transport.ts';
import { type Caller, toolCallId } from '../provider.ts';
import { BETWEEN, packed, type Part } from './turns.ts';
import { type Block, MessageReader, type Progress } from './reply.ts';
import { askedOf, FORM_TOOL, openLearned } from './wire.ts';

/** Many people include this path in the base URL, as other providers require. */
const OWN_PATH = /(?:\/v1(?:\/messages)?)?\/*$/;

/** The client library with every setting given that it would otherwise read from the environment or the disk. */
const connect = (setup: ProviderSetup): Server =>
  serverOf(
    setup,
    (options) =>
      new Anthropic({
        ...options,
        authToken: null,
        webhookKey: null,
        baseURL: setup.baseUrl,
        logLevel: 'off',
        openTelemetry: false,
      }),
  );

/** Calls of one configured provider. Between calls it remembers only what the server refused to accept. */
export function anthropicCaller(setup: ProviderSetup, world: World): Caller {
  const server = connect(setup);
  const learned = openLearned();
  const post = (path: string, body: object): Post => {
    return { url: `${setup.baseUrl.replace(OWN_PATH, '')}/v1/messages${path}`, body };
  };
  return {
    async call(request, signal, onDelta) {
      for (;;) {
        const { body, formed, withoutEffort } = askedOf(request, learned.allowed(request));
        const reader = readerOf(request, { provider: setup.name, formed }, onDelta);
        const streamed = post('', { ...body, max_tokens: request.maxOutputTokens, stream: true });
        const came = await exchange(server, world, { ...streamed, reader }, signal);
        if (came.ok) return ok(withoutEffort ? { ...came.value, withoutEffort } : came.value);
        const { fault } = came.fault;
        if (fault.is !== 'refused' || !learned.take(request, body, fault.message)) return fail(fault);
      }
    },
    count: (request, signal) =>
      countInput(server, world, post('/count_tokens', askedOf(request, learned.allowed(request)).body), signal),
  };
}

/** How a reply is made: `provider` forms the canonical id of the model that answered; with `formed` it is the input of `FORM_TOOL`. */
interface ReplyForm {
  readonly provider: string;
  readonly formed: boolean;
}

function readerOf(request: ModelRequest, form: ReplyForm, onDelta: (delta: Delta) => void): Reader<ModelReply> {
  const message = new MessageReader(form.formed);
  let problem: Reading<ModelReply> | null = null;
  return {
    take(event) {
      if (textAt(event, 'type') === 'error') problem = { is: 'error', error: event };
      const before = message.content;
      const taken = problem === null ? message.take(event) : ok(null);
      if (!taken.ok) problem = { is: 'malformed', why: taken.fault };
      else if (taken.value !== null) onDelta(taken.value);
      if (problem !== null || message.complete) return 'end';
      return message.content > before ? 'content' : 'nothing';
    },
    reading: ({ broke }) => problem ?? (broke ? { is: 'cut' } : replyOf(message.progress(), request, form)),
    spent: ({ sent, came }) => (message.begun ? message.spent({ sent, came }) : null),
  };
}

/** The reply of a stream that came so far and no further. */
export function replyOf(progress: Progress, request: ModelRequest, form: ReplyForm): Reading<ModelReply> {
  const reply = wholeReply(progress, request, form);
  return reply.ok ? { is: 'reply', reply: reply.value } : reply.fault;
}

/** Why a stream is not a reply: it ended too early, or it is invalid. */
type NoReply = Extract<Reading<never>, { is: 'cut' | 'malformed' }>;

/** A paused turn is treated as unfinished; only the provider's own tools cause one, and none are requested. */
const STOPS = byWord<StopReason>([
  ['end', 'end_turn stop_sequence'],
  ['tool use', 'tool_use'],
  ['output limit', 'max_tokens model_context_window_exceeded pause_turn'],
  ['refused', 'refusal'],
]);

/** The most characters kept of invalid arguments: enough for the model to recognise what it wrote. */
const LONGEST_RAW = 4000;

function wholeReply(
  progress: Progress,
  request: ModelRequest,
  { provider, formed }: ReplyForm,
): Result<ModelReply, NoReply> {
  const stopped = stopOf(progress);
  if (!stopped.ok) return stopped;
  const model = ModelId.safeParse(`${provider}/${progress.model ?? ''}`);
  if (!model.success) return malformed('it does not name its model');
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
  if (model === null || (stop === null && !complete)) return fail({ is: 'cut' });
  const stopped = STOPS.get(stop ?? '');
  if (stopped === undefined) return malformed(faults.unknownStop(stop ?? 'none'));
  if (stopped !== 'tool use') return ok(stopped);
  if (!blocks.some(({ block }) => isCall(block))) return malformed('it stopped for tool calls, but has none');
  if (blocks.some(({ ended }) => !ended)) return fail({ is: 'cut', why: 'a tool call in it is incomplete' });
  return ok(stopped);
}

/** Why no call of a complete reply may be executed: it has unknown parts, or is not what the provider sends. Null if they may. */
function againstCalls({ blocks, disorder, usage }: Progress, stopped: StopReason): string | null {
  if (stopped === 'end' && blocks.some(({ block }) => isCall(block)))
    return 'it has tool calls, but did not stop for them';
  if (stopped !== 'tool use') return null;
  if (blocks.some(({ block }) => block.type === 'other'))
    return 'it has a block of an unknown kind beside its tool calls';
  if (disorder) return 'its blocks are out of order';
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
  // Invalid input stays text: no tool accepts a text as input, so the model gets an error.
  return parseArguments(text) ?? text.slice(0, LONGEST_RAW);
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
