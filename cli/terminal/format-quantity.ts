/** Numbers and durations for people. */

const SIGNIFICANT_DIGITS = 6;

/** Formats a number with at most six significant digits, such as `1040.6` and `1.2e+12`. */
export function formatNumber(value: number): string {
  return String(Number(value.toPrecision(SIGNIFICANT_DIGITS)));
}

/** Formats a duration, such as `340 ms`, `2.1 s`, `3 min 20 s` and `1 h 5 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
