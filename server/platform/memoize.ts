/** Memoisation of pure functions. */

/**
 * Returns a function that computes its result once for each argument object. The result lives as long as the object, which
 * must not change. Two servers in one process share nothing, because they have different objects.
 */
export function memoizeByObject<Key extends object, Result>(
  compute: (key: Key) => Result,
): (key: Key) => Result {
  const results = new WeakMap<Key, { result: Result }>();
  return (key) => {
    let entry = results.get(key);
    if (!entry) {
      entry = { result: compute(key) };
      results.set(key, entry);
    }
    return entry.result;
  };
}
