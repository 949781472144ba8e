/** Lists in groups: of what has one key, or of a size. And words for counts and lists, in sentences and in patterns. */

/** Sorts names by their code units. */
export const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The first of those that have the same key. */
export function distinct<T>(all: readonly T[], key: (one: T) => string): readonly T[] {
  const firsts = new Map(all.toReversed().map((one) => [key(one), one]));
  return all.filter((one) => firsts.get(key(one)) === one);
}

/** Keys with their values, those with most values first, then by name. */
export const grouped = <T>(all: readonly T[], key: (one: T) => string): readonly (readonly [string, readonly T[]])[] =>
  [...Map.groupBy(all, key)].toSorted(([a, x], [b, y]) => y.length - x.length || byName(a, b));

/** Groups of neighbours, each of at most `most`, and of texts that are at most `room` long with a sign between them; a longer one is alone. */
export function batched<T>(
  all: readonly T[],
  text: (one: T) => string,
  room: number,
  most = Infinity,
): readonly (readonly T[])[] {
  const groups: T[][] = [];
  let length = 0;
  for (const one of all) {
    const last = groups.at(-1);
    const own = text(one).length + 1;
    const isFull = last === undefined || last.length >= most || length + own > room;
    if (isFull) groups.push([one]);
    else last.push(one);
    length = isFull ? own : length + own;
  }
  return groups;
}

/** A count with its noun: `1 agent`, `4 agents`. */
export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** `one`, `one and two`, `one, two and three`. */
export const listed = (parts: readonly string[], last: 'and' | 'or' = 'and'): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} ${last} ${parts.at(-1) ?? ''}`;

/** A text as a sentence: with a full stop, unless what it quotes at its end ends a sentence by itself. */
export const sentence = (text: string): string => (/[.!?…]["'`]$/.test(text) ? text : `${text}.`);

/** A regular expression, as source, for exactly this text. */
export const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** What the first group of `expression` holds in `text`; empty when it doesn't match. */
export const captured = (expression: RegExp, text: string): string => expression.exec(text)?.[1] ?? '';
