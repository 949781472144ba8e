/** Lists in groups: of what has one key, or of a size. */

/** Sorts names by their code units. */
export const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The first of those that have the same key. */
export function distinct<T>(all: readonly T[], key: (one: T) => string): readonly T[] {
  const firsts = new Map(all.toReversed().map((one) => [key(one), one]));
  return all.filter((one) => firsts.get(key(one)) === one);
}

/** Keys with their values, those with most values first, then by name. */
export function grouped<T>(all: readonly T[], key: (one: T) => string): readonly (readonly [string, readonly T[]])[] {
  return [...Map.groupBy(all, key)].toSorted(([a, x], [b, y]) => y.length - x.length || byName(a, b));
}

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
