/** Lists in which what has one key belongs together. */

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
