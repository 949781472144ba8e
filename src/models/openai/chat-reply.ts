/** Reads the chunks of Chat Completions, of whatever server. Calls are only made where the stream came to its end by itself. */
import type { Usage } from '../../domain/budget.ts';
import type { StopReason } from '../../domain/turn.ts';
import type { Delta, ModelRequest, Words } from '../../ports/model.ts';
import { at, type Fields, fieldsAt, isFields, listAt, numberAt, parsed, textAt } from '../http/json.ts';
import { parseArguments } from '../http/strict-json.ts';
import { bytesOf } from '../provider.ts';
import { unknownStop } from '../http/fault.ts';
import {
  callsOf,
  NOT_COUNTED,
  type RawCall,
  type Read,
  type Reader,
  type Reading,
  usageOf,
  withoutCalls,
} from './reading.ts';
import type { Kept } from './chat-wire.ts';

/** What servers call the ends. `calls` and `end` are one: some say `stop` when there are calls. */
const FINISH: ReadonlyMap<string, StopReason | 'error'> = new Map(
  Object.entries({
    stop: 'end',
    eos: 'end',
    eos_token: 'end',
    end_turn: 'end',
    stop_sequence: 'end',
    tool_calls: 'tool use',
    tool_use: 'tool use',
    function_call: 'tool use',
    length: 'output limit',
    max_tokens: 'output limit',
    content_filter: 'refused',
    refusal: 'refused',
    error: 'error',
  } as const),
);

/** Pieces of sealed reasoning; of more of them no reply is made. */
const MOST_DETAILS = 20_000;

const THOUGHTS = ['reasoning_content', 'reasoning'] as const;

/** A reader of the reply to `request`. `byTool`: the reply comes as the arguments of the one tool that must be called. */
export function readChat(
  request: ModelRequest,
  { byTool }: { readonly byTool: boolean },
  onDelta: (delta: Delta) => void,
): Reader {
  const split = splitThinking();
  // Where the reply comes as a call, it is none of a tool.
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
    // One of both: some servers send the same words under either name.
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
    thought: () => bytesOf(came.thought),
    take(chunk) {
      if (error !== undefined) return true;
      error = at(chunk, 'error') ?? undefined;
      came.model = textAt(chunk, 'model') || came.model;
      const usage = at(chunk, 'usage');
      if (isFields(usage)) counted = usageOf(usage, { all: 'prompt_tokens', output: 'completion_tokens' });
      const choice = listAt(chunk, 'choices')[0];
      takeDelta(at(choice, 'delta') ?? at(choice, 'message'));
      came.finish = textAt(choice, 'finish_reason') || came.finish;
      error ??= at(choice, 'error') ?? undefined;
      return error !== undefined;
    },
    reading(done) {
      if (error !== undefined) return { is: 'error', error };
      if (came.finish === '' && !done) return { is: 'cut' };
      tell(split.end());
      const read = { text: came.text, usage: counted ?? NOT_COUNTED, model: came.model };
      if (came.refusal !== '') return withoutCalls({ ...read, text: came.refusal }, 'refused');
      return readingOf(
        request,
        { finish: came.finish, thoughts: thoughtsOf(came, details), read, byTool, problem: pieces.problem() },
        pieces.calls(),
      );
    },
  };
}

interface Came {
  readonly finish: string;
  readonly read: Pick<Read, 'text' | 'usage' | 'model'>;
  /** What goes back with the calls that it led to. */
  readonly thoughts: Pick<Kept, 'thought' | 'details'>;
  readonly byTool: boolean;
  /** Of its tool calls. */
  readonly problem: string | null;
}

/** Plain reasoning is wanted back by few servers, under one name; sealed one by those that send it. */
function thoughtsOf(
  { field, thought }: { readonly field: string; readonly thought: string },
  details: readonly unknown[],
): Pick<Kept, 'thought' | 'details'> {
  const whole = joinDetails(details);
  return {
    ...(field === 'reasoning_content' ? { thought: { field, text: thought } } : {}),
    ...(whole.length === 0 ? {} : { details: whole }),
  };
}

function readingOf(request: ModelRequest, came: Came, raw: readonly RawCall[]): Reading {
  const { finish, read } = came;
  // Without a word about the end, though the stream itself ended: only what is whole counts.
  const stop = finish === '' ? 'end' : FINISH.get(finish);
  if (stop === 'error') return { is: 'error', error: { message: 'it stopped with an error' } };
  if (stop === 'output limit' || stop === 'refused') return withoutCalls(read, stop);
  const why = stop === undefined ? unknownStop(finish) : missing(came, raw);
  if (why === 'its end') return { is: 'cut' };
  if (why !== null) return { is: 'malformed', why };
  return { is: 'reply', reply: wholeReply(request, came, raw) };
}

function wholeReply(request: ModelRequest, { read, thoughts, byTool }: Came, raw: readonly RawCall[]): Read {
  const only = byTool ? raw[0] : undefined;
  if (only !== undefined) return { ...read, text: only.arguments, calls: [], kept: {}, stopReason: 'end' };
  const { calls, kept } = callsOf(request, raw);
  if (calls.length === 0) return { ...read, calls, kept, stopReason: 'end' };
  return { ...read, calls, kept: { ...kept, ...thoughts }, stopReason: 'tool use' };
}

/** What a stream that came to its end leaves out; null when it is all there. */
function missing({ finish, read, problem }: Came, raw: readonly RawCall[]): string | null {
  if (FINISH.get(finish) === 'tool use' && raw.length === 0) return 'it stopped for a tool call that did not come';
  if (problem !== null) return problem;
  if (raw.some(({ tool }) => tool === '')) return 'a tool call has no name';
  if (finish !== '') return null;
  if (!raw.every(isWhole)) return 'its end';
  return raw.length === 0 && read.text === '' ? 'it ended without a word' : null;
}

const isWhole = ({ arguments: text }: RawCall): boolean => text !== '' && parseArguments(text).ok;

// Takes `<think>…</think>` at the head of a text as reasoning: local models write it so when their server doesn't split it off.

const OPEN = '<think>';
const CLOSE = '</think>';

interface ThinkSplitter {
  /** The deltas that `piece` makes, together with what was held back before it. */
  take(piece: string): readonly Words[];
  /** What was held back and turned out to be no mark. */
  end(): readonly Words[];
}

/** A splitter of one text. Only at its head: a mark further on is something that the model writes about. */
export function splitThinking(): ThinkSplitter {
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
    take,
    end: () => {
      const rest = held;
      held = '';
      return place === 'thinking' ? thought(rest) : text(rest);
    },
  };
}

/** Where a mark might begin at the end of `held`, its length when there is none. */
function startOfMark(held: string): number {
  for (let from = Math.max(0, held.length - CLOSE.length + 1); from < held.length; from += 1) {
    if (CLOSE.startsWith(held.slice(from))) return from;
  }
  return held.length;
}

// Puts the tool calls of Chat Completions together from what servers send: pieces by index as OpenAI does, whole calls in one chunk, all under
// index 0, without index, without id or with the same one for several, arguments as an object.

interface CallsInPieces {
  /** Takes one entry of a chunk's `tool_calls`. */
  take(entry: unknown): void;
  calls(): readonly RawCall[];
  /** Why none of them may be carried out; null where nothing is wrong. */
  problem(): string | null;
}

interface Open {
  readonly index: number | null;
  id: string;
  tool: string;
  arguments: string;
  extra: Fields | null;
}

const MOST_CALLS = 256;

/** The calls of one reply. What is written of their arguments goes to `onDelta`. */
function callsInPieces(onDelta: (delta: Delta) => void): CallsInPieces {
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
    if (isBehind(piece, open.at(-1))) problem = 'its tool calls came out of order';
    if (open.length >= MOST_CALLS) problem = 'it calls more tools than any reply';
    else if (`${piece.tool}${piece.id}${piece.arguments}` !== '') open.push(piece);
    tell(piece, piece.arguments);
  };
  return {
    take(entry) {
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
    problem: () => problem,
    calls: () => open.map(({ id, tool, arguments: text, extra }) => ({ id, tool, arguments: text, extra })),
  };
}

const pieceOf = (entry: Fields): Open => ({
  index: numberAt(entry, 'index'),
  id: textAt(entry, 'id'),
  tool: textAt(at(entry, 'function'), 'name'),
  arguments: argumentsIn(entry),
  extra: fieldsAt(entry, 'extra_content'),
});

/** Does a call begin in a place before that of the last one? */
const isBehind = ({ index }: Open, last: Open | undefined): boolean =>
  index !== null && last !== undefined && last.index !== null && index < last.index;

/** Does `piece` begin a call of its own, though it came where `call` did? */
function isAnother(call: Open, piece: Open): boolean {
  if (piece.id !== '' && call.id !== '' && piece.id !== call.id) return true;
  // A name again, and arguments from their beginning, once those of the call are whole.
  return piece.tool !== '' && piece.arguments.trimStart().startsWith('{') && isFields(parsed(call.arguments));
}

function argumentsIn(entry: unknown): string {
  const said = at(at(entry, 'function'), 'arguments');
  if (typeof said === 'string') return said;
  return isFields(said) ? JSON.stringify(said) : '';
}

/** Details of reasoning as routers send them, put together again: pieces of one are told by their type and index. */
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
