/** Memoizes results of immutable values such as states and plans, because each frame asks again. */

/**
 * Returns a cache of the last result per `key`. The result is recomputed if one of `besides`, its other inputs,
 * changed. Entries are garbage-collected with their keys.
 */
export function memoize<V>(): (key: object, besides: readonly unknown[], make: () => V) => V {
  const all = new WeakMap<object, { readonly besides: readonly unknown[]; readonly value: V }>();
  return (key, besides, make) => {
    const known = all.get(key);
    if (known?.besides.every((one, at) => one === besides[at]) === true) return known.value;
    const value = make();
    all.set(key, { besides, value });
    return value;
  };
}
