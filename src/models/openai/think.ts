/** Takes `<think>…</think>` at the head of a text as reasoning: local models write it so when their server doesn't split it off. */
import type { Words } from '../../ports/model.ts';

const OPEN = '<think>';
const CLOSE = '</think>';

export interface ThinkSplitter {
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
