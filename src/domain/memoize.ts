/** Remembers what was computed from values that never change in place, such as states and plans, because each frame asks again. */

/** `compute` with a cache of the last result per object. `keyOf` names that object and the other inputs of the result, which is computed
 * again if one of them changed. Entries are garbage-collected with their objects. */
export function memoize<Args extends readonly unknown[], Value>(
  keyOf: (...args: Args) => readonly [object, ...unknown[]],
  compute: (...args: Args) => Value,
): (...args: Args) => Value {
  const all = new WeakMap<object, { readonly besides: readonly unknown[]; readonly value: Value }>();
  return (...args) => {
    const [object, ...besides] = keyOf(...args);
    const known = all.get(object);
    if (known?.besides.every((one, at) => one === besides[at]) === true) return known.value;
    const value = compute(...args);
    all.set(object, { besides, value });
    return value;
  };
}
