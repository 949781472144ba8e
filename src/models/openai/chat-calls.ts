/**
 * Puts the tool calls of Chat Completions together from what servers send: pieces by index as OpenAI does, whole calls in one chunk, all under
 * index 0, without index, without id or with the same one for several, arguments as an object.
 */
import type { Delta } from '../../ports/model.ts';
import { at, fieldsAt, isFields, numberAt, parsed, textAt } from '../http/json.ts';
import type { Fields } from '../http/json.ts';
import type { RawCall } from './reading.ts';

export interface CallsInPieces {
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
export function callsInPieces(onDelta: (delta: Delta) => void): CallsInPieces {
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
export function joinDetails(pieces: readonly unknown[]): readonly Fields[] {
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
