/** What both of OpenAI's wires make of a stream of events, and the words that their readers share. */
import type { Usage } from '../../domain/budget.ts';
import type { Json, ModelReply } from '../../domain/turn.ts';
import { bytesOf, tokensIn, toolCallId } from '../provider.ts';
import type { ModelRequest } from '../../ports/model.ts';
import { parseArguments } from '../http/strict-json.ts';
import type { Kept } from './chat-wire.ts';
import { at, type Fields, numberAt } from '../http/json.ts';

/** A reply but for who gave it. `kept` is what the server needs back; `model` is empty where it didn't say. */
export interface Read extends Omit<ModelReply, 'model' | 'opaque'> {
  readonly model: string;
  readonly kept: Kept;
}

export type Reading =
  | { readonly is: 'reply'; readonly reply: Read }
  /** The end is missing: nothing of it may be executed. */
  | { readonly is: 'cut' }
  | { readonly is: 'malformed'; readonly why: string }
  /** The server broke off and said why. */
  | { readonly is: 'error'; readonly error: unknown };

export interface Reader {
  /** Takes the JSON of one event; true when nothing more can come. What comes after an end is ignored. */
  take(event: unknown): boolean;
  /** What all of it makes, if nothing more comes. `done`: the stream said itself that this is the end. */
  reading(done: boolean): Reading;
  /** Bytes of reasoning that came beside text and calls. */
  thought(): number;
  /** What the server counted so far; null where it hasn't. */
  usage(): Usage | null;
}

/** A usage that can't be true: the gate then settles at what was reserved. */
export const NOT_COUNTED: Usage = { input: -1, output: -1, cacheRead: 0, cacheWrite: 0 };

/** Tokens by class from the fields that both wires have under other names; `all` counts cached input too. */
export function usageOf(usage: unknown, names: { readonly all: string; readonly output: string }): Usage {
  const details = at(usage, `${names.all}_details`);
  const cacheRead = numberAt(details, 'cached_tokens') ?? numberAt(usage, 'prompt_cache_hit_tokens') ?? 0;
  const cacheWrite = numberAt(details, 'cache_write_tokens') ?? 0;
  const all = numberAt(usage, names.all);
  const output = numberAt(usage, names.output);
  if (all === null || output === null) return NOT_COUNTED;
  // Some servers leave reasoning out of the output, and count it in the total only.
  const beside = (numberAt(usage, 'total_tokens') ?? 0) - all;
  return { input: all - cacheRead - cacheWrite, output: Math.max(output, beside), cacheRead, cacheWrite };
}

/**
 * The reply with what it used, where the server left that out or reports 0 of what can't be 0: a token for every four bytes that were
 * sent or came. What the server did count stays.
 */
export function estimated(reply: Read, { sent, thought }: { readonly sent: number; readonly thought: number }): Read {
  const { usage } = reply;
  const isRead = usage.input + usage.cacheRead + usage.cacheWrite > 0;
  const bytes = bytesOf(reply.text) + thought + (reply.calls.length === 0 ? 0 : bytesOf(JSON.stringify(reply.calls)));
  const isWritten = usage.output > 0 || (usage !== NOT_COUNTED && bytes === 0);
  if ((isRead && isWritten) || isAbsurd(usage)) return reply;
  const input = isRead ? usage.input : tokensIn(sent);
  const output = isWritten ? usage.output : Math.max(1, tokensIn(bytes));
  return { ...reply, usage: { ...usage, input, output }, estimated: true };
}

/** What can't be true is passed on as it is. */
const isAbsurd = (usage: Usage): boolean =>
  usage !== NOT_COUNTED && Object.values(usage).some((count) => !Number.isSafeInteger(count) || count < 0);

/** A call as a server sent it, its arguments as text. */
export interface RawCall {
  readonly id: string;
  readonly tool: string;
  readonly arguments: string;
  /** What the server put beside it and wants back, such as a signature. */
  readonly extra: Fields | null;
}

/**
 * The calls of a reply. Arguments that can't be read stay text: the gate answers the model that they aren't right. Ids are ours, since servers
 * send none, empty ones or the same again; theirs are kept where they can be told apart.
 */
export function callsOf(request: ModelRequest, raw: readonly RawCall[]): Pick<Read, 'calls' | 'kept'> {
  const calls = raw.map((call, index) => ({
    id: toolCallId(request, index),
    tool: call.tool,
    input: inputOf(call.arguments),
  }));
  const theirs = raw.map(({ id }) => id);
  const usable = theirs.length > 0 && theirs.every(isId) && new Set(theirs).size === theirs.length;
  const extras = raw.some(({ extra }) => extra !== null) ? { extras: raw.map(({ extra }) => extra) } : {};
  return { calls, kept: { ...(usable ? { ids: theirs } : {}), ...extras } };
}

const isId = (id: string): boolean => /^[\x21-\x7e]{1,64}$/.test(id);

function inputOf(text: string): Json {
  const input = parseArguments(text);
  return input.ok ? input.value : text;
}

/** A reply that holds no calls: cut off or refused, so that none is executed. */
export const withoutCalls = (
  read: Pick<Read, 'text' | 'usage' | 'model'>,
  stopReason: 'output limit' | 'refused',
): Reading => ({ is: 'reply', reply: { ...read, calls: [], kept: {}, stopReason } });
