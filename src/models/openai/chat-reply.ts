/** Reads the stream of Chat Completions from any server. Calls are made only if the stream reached its end. */
import type { Usage } from '../../domain/budget.ts';
import { bytesIn } from '../../domain/text/text.ts';
import { type ModelReply, type StopReason, tokensIn } from '../../domain/turn.ts';
import type { Delta, ModelRequest, Words } from '../../ports/model.ts';
import type { Reader, Reading } from '../http/exchange.ts';
import { unknownStop } from '../http/fault.ts';
import type { Fields } from '../http/json.ts';
import { at, byWord, fieldsAt, isFields, listAt, numberAt, parseArguments, parsed, textAt } from '../http/json.ts';
import { toolCallId } from '../provider.ts';
import type { KeptReply } from './chat-wire.ts';

/** The finish reasons of various servers. `calls` and `end` are equivalent: some send `stop` with calls. */
const FINISH = byWord<StopReason | 'error'>([
  ['end', 'stop eos eos_token end_turn stop_sequence'],
  ['tool use', 'tool_calls tool_use function_call'],
  ['output limit', 'length max_tokens'],
  ['refused', 'content_filter refusal'],
  ['error', 'error'],
]);

const MOST_DETAILS = 20_000;
const THOUGHTS = ['reasoning_content', 'reasoning'] as const;

/** A reader of the reply to `request`. With `byTool`, the reply is the arguments of the one forced tool. */
export function readChat(
  request: ModelRequest,
  { byTool }: { readonly byTool: boolean },
  onDelta: (delta: Delta) => void,
): ChatReader {
  const split = splitThinking();
  // A reply by tool is not a call to be shown.
  const pieces = callsInPieces(byTool ? () => {} : onDelta);
  const came = { text: '', refusal: '', thought: '', field: '', model: '', finish: '' };
  const details: unknown[] = [];
  let counted: Usage | null = null;
  let error: unknown;

  const tell = (deltas: readonly Words[]): void => {
    for (const delta of deltas) {
      if (delta.is === 'text') came.text += delta.text;
      onDelta(delta);
    }
  };
  const takeDelta = (delta: unknown): void => {
    // Only one of the names: some servers send the same text under both.
    const field = THOUGHTS.find((name) => textAt(delta, name) !== '');
    if (field !== undefined) {
      came.field = field;
      came.thought += textAt(delta, field);
      onDelta({ is: 'reasoning', text: textAt(delta, field) });
    }
    if (details.length < MOST_DETAILS) details.push(...listAt(delta, 'reasoning_details').slice(0, MOST_DETAILS));
    tell(split.take(textAt(delta, 'content')));
    const refusal = textAt(delta, 'refusal');
    came.refusal += refusal;
    if (refusal !== '') onDelta({ is: 'text', text: refusal });
    for (const entry of listAt(delta, 'tool_calls')) pieces.take(entry);
  };

  return {
    usage: () => counted,
    thought: () => bytesIn(came.thought),
    take(chunk) {
      error = at(chunk, 'error') ?? undefined;
      came.model = textAt(chunk, 'model') || came.model;
      const usage = at(chunk, 'usage');
      if (isFields(usage)) counted = usageOf(usage, { all: 'prompt_tokens', output: 'completion_tokens' });
      const choice = listAt(chunk, 'choices')[0];
      takeDelta(at(choice, 'delta') ?? at(choice, 'message'));
      came.finish = textAt(choice, 'finish_reason') || came.finish;
      error ??= at(choice, 'error') ?? undefined;
      if (error !== undefined) return 'end';
      return hasContent(choice) ? 'content' : 'nothing';
    },
    reading(done) {
      if (error !== undefined) return { is: 'error', error };
      if (came.finish === '' && !done) return { is: 'cut' };
      tell(split.end());
      const read = { text: came.text, usage: counted ?? NOT_COUNTED, model: came.model };
      if (came.refusal !== '') return withoutCalls({ ...read, text: came.refusal }, 'refused');
      const thoughts = thoughtsOf(came, details);
      return readingOf(request, { finish: came.finish, thoughts, read, byTool, ...pieces.whole() });
    },
  };
}

/** False for empty chunks that only keep a stream alive, and for the beginning of an answer. */
function hasContent(choice: unknown): boolean {
  const delta = fieldsAt(choice, 'delta') ?? fieldsAt(choice, 'message') ?? {};
  const isMore = Object.entries(delta).some(([name, value]) => name !== 'role' && !isEmpty(value));
  return isMore || textAt(choice, 'finish_reason') !== '';
}

/** Numbers are indexes, not content. */
const isEmpty = (value: unknown): boolean =>
  typeof value === 'string'
    ? value === ''
    : typeof value !== 'object' || value === null || Object.values(value).every(isEmpty);

interface Came {
  readonly finish: string;
  readonly read: Pick<Read, 'text' | 'usage' | 'model'>;
  /** The reasoning that goes back with the calls it led to. */
  readonly thoughts: Pick<KeptReply, 'thought' | 'details'>;
  readonly byTool: boolean;
  readonly raw: readonly RawCall[];
  /** What is wrong with its tool calls; null if nothing. */
  readonly problem: string | null;
}

/** Few servers want plain reasoning back, under one name; encrypted reasoning goes back to those that send it. */
function thoughtsOf(
  { field, thought }: { readonly field: string; readonly thought: string },
  details: readonly unknown[],
): Pick<KeptReply, 'thought' | 'details'> {
  const whole = joinDetails(details);
  return {
    ...(field === 'reasoning_content' ? { thought: { field, text: thought } } : {}),
    ...(whole.length === 0 ? {} : { details: whole }),
  };
}

function readingOf(request: ModelRequest, came: Came): Reading<Read> {
  const { finish, read } = came;
  // The stream ended without a finish reason: only complete parts count.
  const stop = finish === '' ? 'end' : FINISH.get(finish);
  if (stop === 'error') return { is: 'error', error: { message: 'it stopped with an error' } };
  if (stop === 'output limit' || stop === 'refused') return withoutCalls(read, stop);
  const why = stop === undefined ? unknownStop(finish) : missing(came);
  if (why === 'its end is missing') return { is: 'cut' };
  return why !== null ? { is: 'malformed', why } : { is: 'reply', reply: wholeReply(request, came) };
}

function wholeReply(request: ModelRequest, { read, thoughts, byTool, raw }: Came): Read {
  const only = byTool ? raw[0] : undefined;
  if (only !== undefined) return { ...read, text: only.arguments, calls: [], kept: {}, stopReason: 'end' };
  const { calls, kept } = callsOf(request, raw);
  if (calls.length === 0) return { ...read, calls, kept, stopReason: 'end' };
  return { ...read, calls, kept: { ...kept, ...thoughts }, stopReason: 'tool use' };
}

/** What a finished stream lacks; null if it is complete. */
function missing({ finish, read, problem, raw }: Came): string | null {
  if (FINISH.get(finish) === 'tool use' && raw.length === 0) return 'it stopped for a tool call that is missing';
  if (problem !== null) return problem;
  if (raw.some(({ tool }) => tool === '')) return 'a tool call has no name';
  if (finish !== '') return null;
  if (!raw.every(isWhole)) return 'its end is missing';
  return raw.length === 0 && read.text === '' ? 'it ended without text' : null;
}

const isWhole = ({ arguments: text }: RawCall): boolean => text !== '' && parseArguments(text) !== null;

// Splits `<think>…</think>` at the beginning of a text off as reasoning: local models write it if their server does not separate it.

const OPEN = '<think>';
const CLOSE = '</think>';

/** A splitter of one text. Only a mark at the beginning counts; later ones are part of the text. */
export function splitThinking() {
  let place: 'head' | 'thinking' | 'gap' | 'text' = 'head';
  let held = '';

  const text = (piece: string): readonly Words[] => (piece === '' ? [] : [{ is: 'text', text: piece }]);
  const thought = (piece: string): readonly Words[] => (piece === '' ? [] : [{ is: 'reasoning', text: piece }]);

  const atHead = (): readonly Words[] => {
    const begun = held.trimStart();
    if (OPEN.startsWith(begun) && begun !== OPEN) return [];
    const all = held;
    held = '';
    place = begun.startsWith(OPEN) ? 'thinking' : 'text';
    return place === 'thinking' ? take(begun.slice(OPEN.length)) : text(all);
  };
  const thinking = (): readonly Words[] => {
    const close = held.indexOf(CLOSE);
    if (close === -1) {
      const mark = startOfMark(held);
      const safe = held.slice(0, mark);
      held = held.slice(mark);
      return thought(safe);
    }
    const [inside, after] = [held.slice(0, close), held.slice(close + CLOSE.length)];
    [held, place] = ['', 'gap'];
    return [...thought(inside), ...take(after)];
  };
  const inGap = (): readonly Words[] => {
    const rest = held.trimStart();
    held = '';
    if (rest !== '') place = 'text';
    return text(rest);
  };
  const take = (piece: string): readonly Words[] => {
    if (place === 'text') return text(piece);
    held += piece;
    if (place === 'head') return atHead();
    return place === 'thinking' ? thinking() : inGap();
  };
  return {
    /** The deltas of a piece, including text that was held back before it. */
    take,
    /** The held back text, which turned out not to be a mark. */
    end: () => {
      const rest = held;
      held = '';
      return place === 'thinking' ? thought(rest) : text(rest);
    },
  };
}

/** Where a mark may begin at the end of `held`; its length if there is none. */
function startOfMark(held: string): number {
  for (let from = Math.max(0, held.length - CLOSE.length + 1); from < held.length; from += 1) {
    if (CLOSE.startsWith(held.slice(from))) return from;
  }
  return held.length;
}

// Assembles the tool calls of Chat Completions from the forms that servers send: pieces by index as OpenAI, whole calls in one chunk, all
// with index 0, without index, without id or with equal ids, arguments as an object.

interface Open extends RawCall {
  readonly index: number | null;
}

const MOST_CALLS = 256;

function callsInPieces(onDelta: (delta: Delta) => void) {
  const open: Open[] = [];
  let problem: string | null = null;
  const tell = ({ tool }: Open, text: string): void => {
    if (text !== '') onDelta({ is: 'call', tool, text });
  };

  const meant = (index: number | null, id: string): Open | undefined => {
    if (index !== null) return open.findLast((call) => call.index === index);
    return open.findLast((call) => id !== '' && call.id === id) ?? (id === '' ? open.at(-1) : undefined);
  };
  const begin = (piece: Open): void => {
    if (isBehind(piece, open.at(-1))) problem = 'its tool calls are out of order';
    if (open.length >= MOST_CALLS) problem = 'it has too many tool calls';
    else if (`${piece.tool}${piece.id}${piece.arguments}` !== '') open.push(piece);
    tell(piece, piece.arguments);
  };
  return {
    take(entry: unknown): void {
      if (!isFields(entry)) return;
      if (!/^(?:function)?$/.test(textAt(entry, 'type'))) problem = 'it calls a tool of an unknown kind';
      const piece = pieceOf(entry);
      const call = meant(piece.index, piece.id);
      if (call === undefined || isAnother(call, piece)) {
        begin(piece);
        return;
      }
      call.id ||= piece.id;
      call.tool ||= piece.tool;
      call.arguments += piece.arguments;
      call.extra ??= piece.extra;
      tell(call, piece.arguments);
    },
    whole: (): Pick<Came, 'raw' | 'problem'> => ({ raw: open, problem }),
  };
}

const pieceOf = (entry: Fields): Open => ({
  index: numberAt(entry, 'index'),
  id: textAt(entry, 'id'),
  tool: textAt(at(entry, 'function'), 'name'),
  arguments: argumentsIn(entry),
  extra: fieldsAt(entry, 'extra_content'),
});

/** True if a call begins at an index before that of the last one. */
const isBehind = ({ index }: Open, last: Open | undefined): boolean =>
  index !== null && last !== undefined && last.index !== null && index < last.index;

/** True if `piece` begins a call of its own, although it has the index or id of `call`. */
function isAnother(call: Open, piece: Open): boolean {
  if (piece.id !== '' && call.id !== '' && piece.id !== call.id) return true;
  // A name and the start of arguments again, after those of the call are complete.
  return piece.tool !== '' && piece.arguments.trimStart().startsWith('{') && isFields(parsed(call.arguments));
}

function argumentsIn(entry: unknown): string {
  const said = at(at(entry, 'function'), 'arguments');
  if (typeof said === 'string') return said;
  return isFields(said) ? JSON.stringify(said) : '';
}

/** Joins the details of reasoning that routers send in pieces; pieces of one detail share type and index. */
function joinDetails(pieces: readonly unknown[]): readonly Fields[] {
  const whole: Fields[] = [];
  for (const piece of pieces.filter(isFields)) {
    const last = whole.at(-1);
    const isMore = last !== undefined && last['type'] === piece['type'] && last['index'] === piece['index'];
    if (isMore) whole[whole.length - 1] = joined(last, piece);
    else whole.push(piece);
  }
  return whole;
}

const GROWING = ['text', 'summary', 'data'] as const;

function joined(last: Fields, piece: Fields): Fields {
  const said = Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== null));
  const grown: Record<string, unknown> = {};
  for (const name of GROWING) if (name in last || name in said) grown[name] = textAt(last, name) + textAt(piece, name);
  return { ...last, ...said, ...grown };
}

/** A reply without its provider. `kept` is what the server needs back; `model` is empty if it was not named. */
export interface Read extends Omit<ModelReply, 'model' | 'opaque'> {
  readonly model: string;
  readonly kept: KeptReply;
}

/** Reads the events of one reply, as `Reader`, but for what the provider's kind decides. */
export interface ChatReader extends Pick<Reader<Read>, 'take'> {
  /** The result if nothing more comes. `announced`: the stream announced its end. */
  reading(announced: boolean): Reading<Read>;
  /** Bytes of reasoning beside text and calls. */
  thought(): number;
  /** What the server has counted so far; null if it has not. */
  usage(): Usage | null;
}

/** An impossible usage, with which the gate settles the reserved amount. */
export const NOT_COUNTED: Usage = { input: -1, output: -1, cacheRead: 0, cacheWrite: 0 };

/** Tokens by class, from fields that the two APIs name differently; `all` includes cached input. */
export function usageOf(usage: unknown, names: { readonly all: string; readonly output: string }): Usage {
  const details = at(usage, `${names.all}_details`);
  const cacheRead = numberAt(details, 'cached_tokens') ?? numberAt(usage, 'prompt_cache_hit_tokens') ?? 0;
  const cacheWrite = numberAt(details, 'cache_write_tokens') ?? 0;
  const all = numberAt(usage, names.all);
  const output = numberAt(usage, names.output);
  if (all === null || output === null) return NOT_COUNTED;
  // Some servers count reasoning only in the total.
  const beside = (numberAt(usage, 'total_tokens') ?? 0) - all;
  return { input: all - cacheRead - cacheWrite, output: Math.max(output, beside), cacheRead, cacheWrite };
}

/** The reply with an estimated usage if the server omitted it or reports an impossible 0: a token for every four bytes sent or received.
 * What the server did count stays. */
export function estimated(reply: Read, { sent, thought }: { readonly sent: number; readonly thought: number }): Read {
  const { usage } = reply;
  const isRead = usage.input + usage.cacheRead + usage.cacheWrite > 0;
  const bytes = bytesIn(reply.text) + thought + (reply.calls.length === 0 ? 0 : bytesIn(JSON.stringify(reply.calls)));
  const isWritten = usage.output > 0 || (usage !== NOT_COUNTED && bytes === 0);
  if ((isRead && isWritten) || isAbsurd(usage)) return reply;
  const input = isRead ? usage.input : tokensIn(sent);
  const output = isWritten ? usage.output : Math.max(1, tokensIn(bytes));
  return { ...reply, usage: { ...usage, input, output }, estimated: true };
}

/** Impossible values are passed on for the gate to judge. */
const isAbsurd = (usage: Usage): boolean =>
  usage !== NOT_COUNTED && Object.values(usage).some((count) => !Number.isSafeInteger(count) || count < 0);

/** A call as a server sent it, with its arguments as text; it grows while it streams. */
interface RawCall {
  id: string;
  tool: string;
  arguments: string;
  /** Extra content of the server that it wants back, such as a signature. */
  extra: Fields | null;
}

/** The calls of a reply. Invalid arguments stay text, and the gate reports them to the model. Ids are ours, because servers omit or repeat
 * them; theirs are kept if they are unique. */
export function callsOf(request: ModelRequest, raw: readonly Readonly<RawCall>[]): Pick<Read, 'calls' | 'kept'> {
  const calls = raw.map((call, index) => ({
    id: toolCallId(request, index),
    tool: call.tool,
    input: parseArguments(call.arguments) ?? call.arguments,
  }));
  const theirs = raw.map(({ id }) => id);
  const usable = theirs.length > 0 && theirs.every(isId) && new Set(theirs).size === theirs.length;
  const extras = raw.some(({ extra }) => extra !== null) ? { extras: raw.map(({ extra }) => extra) } : {};
  return { calls, kept: { ...(usable ? { ids: theirs } : {}), ...extras } };
}

const isId = (id: string): boolean => /^[\x21-\x7e]{1,64}$/.test(id);

/** A reply without calls: it was cut or refused, so that none is executed. */
export const withoutCalls = (
  read: Pick<Read, 'text' | 'usage' | 'model'>,
  stopReason: 'output limit' | 'refused',
): Reading<Read> => ({ is: 'reply', reply: { ...read, calls: [], kept: {}, stopReason } });
