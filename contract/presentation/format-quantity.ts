/** Writes durations and numbers for people. */

const SECOND_MS = 1_000;
const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;

const numbers = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 12 });

/** Returns a number with thousands separators and at most 12 significant digits. */
export function formatNumber(value: number): string {
  return numbers.format(value);
}

/** Returns a number with thousands separators and at most the given significant digits. */
export function formatSignificant(value: number, digits: number): string {
  return formatNumber(Number(value.toPrecision(digits)));
}

/** Returns a duration in its two largest units, such as `420 ms`, `2.1 s`, `3 min 20 s` or `1 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND_MS) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(ms / SECOND_MS);
  if (seconds < MINUTE_S) return `${seconds} s`;
  const [size, unit, rest, restUnit] =
    seconds < HOUR_S
      ? ([MINUTE_S, 'min', 1, 's'] as const)
      : seconds < DAY_S
        ? ([HOUR_S, 'h', MINUTE_S, 'min'] as const)
        : ([DAY_S, 'd', HOUR_S, 'h'] as const);
  const remainder = Math.floor((seconds % size) / rest);
  const whole = `${Math.floor(seconds / size)} ${unit}`;
  return remainder === 0 ? whole : `${whole} ${remainder} ${restUnit}`;
}
