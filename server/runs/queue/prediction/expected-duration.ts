/**
 * Single numbers for the durations of runs. They decide whether a run may start before an older one that waits for cores,
 * memory or licence tokens.
 */

/** A run that overtakes must end in time, so its duration is expected to be a long one: 9 of 10 past runs were shorter. */
const LONG_QUANTILE = 0.9;

/** Returns the duration by which a run that has not started ends with a probability of 90 %, in milliseconds. */
export function expectDuration(past: readonly number[] | null, limitMs: number): number {
  return past === null ? limitMs : Math.min(limitMs, findQuantile(past, LONG_QUANTILE));
}

/**
 * Returns the duration of a run that has lasted for `elapsed`: the median of the past runs that lasted longer, in
 * milliseconds. A run that has outlived them all can end at any moment.
 */
export function expectTotalDuration(
  past: readonly number[] | null,
  elapsed: number,
  limitMs: number,
): number {
  if (past === null) return limitMs;
  const longer = past.filter((duration) => duration > elapsed);
  return Math.min(limitMs, longer.length === 0 ? elapsed : findQuantile(longer, 0.5));
}

/** Returns the smallest of the numbers that is not below the share of them; `numbers` must not be empty. */
function findQuantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
}
