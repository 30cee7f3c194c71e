/**
 * Numbers for people: one function for each kind of quantity. The command line, the console, the sentences of experiments
 * and the reports use these and no others (findOtherFormats in checks/code-laws.ts).
 *
 * No function rounds a digit before the decimal point, and none prints zero for a small number. Each takes a number of
 * additional digits. `distinguish` needs them for values that are compared.
 */

/** A function of this file, or one made of them. */
export type Format = (value: number, moreDigits?: number) => string;

/** Does not occur inside a number: a line never breaks between a number and its unit. */
const SPACE = '\u00a0';
const MINUS = '\u2212';

/** Hides the rounding errors of sums and products of doubles. */
const EXACT_DIGITS = 12;
const VALUE_DIGITS = 6;
const PERCENT_DIGITS = 2;
const BYTE_DIGITS = 3;
/** More digits than a double has: enough to distinguish any two. */
const MORE_DIGITS_MAX = 18;

/** Numbers of at least the first magnitude, or below the second, have an exponent: they would have up to 324 digits. */
const LONG_NUMBER_MIN = 1e15;
const SHORT_NUMBER_MIN = 1e-6;

/** Creating a formatter takes 50 µs, using one 1 µs. */
const formats = new Map<number, Intl.NumberFormat>();

function formatDecimals(value: number, decimals: number): string {
  const known = formats.get(decimals);
  const format = known ?? new Intl.NumberFormat('en-GB', { maximumFractionDigits: decimals });
  if (!known) formats.set(decimals, format);
  return format.format(value);
}

/** Returns the exponent of the number when it is rounded to the digits: 2 for 123, and for 99.96 with three digits. */
const findExponent = (value: number, digits: number): number =>
  Number(value.toExponential(digits - 1).split('e')[1]);

const limitDigits = (digits: number): number => Math.min(Math.max(digits, 1), 100);

/** Returns a magnitude with at least the given significant digits, and at least the decimals if it has no exponent. */
function formatMagnitude(magnitude: number, digits: number, decimalsMin = 0): string {
  if (magnitude === 0) return '0';
  if (!Number.isFinite(magnitude)) return String(magnitude);
  const exponent = findExponent(magnitude, limitDigits(digits));
  if (magnitude >= LONG_NUMBER_MIN || magnitude < SHORT_NUMBER_MIN) {
    const [mantissa] = magnitude.toExponential(limitDigits(digits) - 1).split('e');
    return `${Number(mantissa)}e${exponent < 0 ? '' : '+'}${exponent}`;
  }
  return formatDecimals(magnitude, Math.max(digits - 1 - exponent, decimalsMin, 0));
}

const sign = (value: number, text: string): string => (value < 0 ? `${MINUS}${text}` : text);

/** Returns a count, or another number of which every digit counts: `2,177,874.75`. */
export function formatNumber(value: number, moreDigits = 0): string {
  return sign(value, formatMagnitude(Math.abs(value), EXACT_DIGITS + moreDigits));
}

/** Returns a measured value, such as an objective or a mean, with six significant digits, or with the given number. */
export function formatValue(value: number, moreDigits = 0, digits = VALUE_DIGITS): string {
  return sign(value, formatMagnitude(Math.abs(value), digits + moreDigits));
}

/** From this magnitude on, four digits would round before the decimal point. */
const ROUND_FROM = 1_000;
const OBJECTIVE_DIGITS = 4;

/** Returns an objective beside others: four significant digits, and none after the decimal point from 1,000 on. */
export const formatObjective: Format = (value, moreDigits = 0) =>
  Math.abs(value) >= ROUND_FROM
    ? formatNumber(Number(value.toFixed(Math.min(moreDigits, MORE_DIGITS_MAX))))
    : formatValue(value, moreDigits, OBJECTIVE_DIGITS);

/**
 * Returns a share in per cent: with one decimal below 1,000 %, or two significant digits if those are more, such as `7.8 %`, `0.023 %` and
 * `0.00016 %`.
 */
export const formatPercent: Format = (share, moreDigits = 0) =>
  formatShare(share, PERCENT_DIGITS + moreDigits, (Math.abs(share) < LARGE_SHARE ? 1 : 0) + moreDigits);

/** From 1,000 % on, a decimal would be a fifth digit. */
const LARGE_SHARE = 10;

/** Returns a share that a person has set, with all of its digits: `1.25 %`. */
export const formatExactPercent: Format = (share, moreDigits = 0) =>
  formatShare(share, EXACT_DIGITS + moreDigits, 0);

function formatShare(share: number, digits: number, decimalsMin: number): string {
  return sign(share, `${formatHundredfold(Math.abs(share), digits, decimalsMin)}${SPACE}%`);
}

function formatHundredfold(magnitude: number, digits: number, decimals: number): string {
  const percent = 100 * magnitude;
  if (Number.isFinite(percent) || !Number.isFinite(magnitude))
    // The product has a rounding error of its own: 100 * 0.07 is 7.000000000000001.
    return formatMagnitude(Number(percent.toPrecision(15)), digits, decimals);
  const [mantissa, exponent] = magnitude.toExponential(limitDigits(digits) - 1).split('e');
  return `${Number(mantissa)}e+${Number(exponent) + 2}`;
}

/** Returns a difference with its sign; no sign for 0. */
export function formatSigned(difference: number, format: Format = formatNumber, moreDigits = 0): string {
  return `${difference > 0 ? '+' : ''}${format(difference, moreDigits)}`;
}

/** Returns what is used of a limit: `3 of 4`. Use below the limit reads as less than the limit. */
export function formatUse(used: number, limit: number, format: Format = formatValue): string {
  return formatSides([used, limit], format).join(' of ');
}

/** Returns a p-value, an e-value or a bound of one, with two significant digits: `0.042`. */
export const formatEvidence: Format = (value, moreDigits) => formatValue(value, moreDigits, EVIDENCE_DIGITS);

const EVIDENCE_DIGITS = 2;

/** Returns a ratio of two values: `1.25`. */
export const formatRatio: Format = (ratio, moreDigits) => formatValue(ratio, moreDigits, RATIO_DIGITS);

const RATIO_DIGITS = 4;

/** Returns core hours: `1.25 h`. */
export const formatHours: Format = (hours, moreDigits) =>
  `${formatValue(hours, moreDigits, HOUR_DIGITS)}${SPACE}h`;

const HOUR_DIGITS = 4;

/** Returns an amount of money with its currency: `€1,234.50`, and `€0.0004` for a small one. */
export function formatMoney(amount: number, currency: string, moreDigits = 0): string {
  const magnitude = Math.abs(amount);
  const exponent = magnitude === 0 ? 0 : findExponent(magnitude, MONEY_DIGITS);
  const decimals = Math.max(2, magnitude < 1 ? MONEY_DIGITS - 1 - exponent : 0) + moreDigits;
  const text = new Intl.NumberFormat('en-GB', {
    style: 'currency',
    currency,
    minimumFractionDigits: 2,
    maximumFractionDigits: Math.min(decimals, 100),
  }).format(magnitude);
  return sign(amount, text);
}

/** Significant digits of an amount below 1. */
const MONEY_DIGITS = 2;

/** Returns a size in decimal units, with three significant digits: `64 B`, `1.23 MB`, `501 MB`. */
export const formatBytes: Format = (bytes, moreDigits = 0) =>
  formatBytesIn(['B', 'kB', 'MB', 'GB', 'TB'], 1000, bytes, moreDigits);

/** Returns a limit that is a power of two, or a size beside such a limit, in binary units: `64 KiB`. */
export const formatBinaryBytes: Format = (bytes, moreDigits = 0) =>
  formatBytesIn(['bytes', 'KiB', 'MiB', 'GiB', 'TiB'], 1024, bytes, moreDigits);

function formatBytesIn(units: readonly string[], base: number, bytes: number, moreDigits: number): string {
  const magnitude = Math.abs(bytes);
  const digits = BYTE_DIGITS + moreDigits;
  // A size that rounds to the next unit has that unit: 999,999 bytes are 1 MB.
  const fits = (_unit: string, power: number): boolean => {
    const amount = magnitude / base ** power;
    // No digit before the decimal point is rounded.
    const written = Math.max(limitDigits(digits), Math.floor(Math.log10(amount)) + 1);
    return Number(amount.toPrecision(written)) < base;
  };
  const found = units.findIndex(fits);
  const power = found < 0 ? units.length - 1 : found;
  return sign(bytes, `${formatMagnitude(magnitude / base ** power, digits)}${SPACE}${units[power]}`);
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Units of durations, the largest first. */
const DURATION_UNITS = [
  [DAY_MS, 'd'],
  [HOUR_MS, 'h'],
  [MINUTE_MS, 'min'],
  [SECOND_MS, 's'],
] as const;

/** A duration below the first number is rounded to a multiple of the second; each additional digit takes the line before. */
const DURATION_STEPS = [
  [SECOND_MS, 1],
  [10 * SECOND_MS, 100],
  [HOUR_MS, SECOND_MS],
  [DAY_MS, MINUTE_MS],
  [Number.POSITIVE_INFINITY, HOUR_MS],
] as const;

/** Returns a duration in at most two units: `420 ms`, `2.1 s`, `3 min 20 s`, `1 d 4 h`; with more digits in more units. */
export function formatDuration(ms: number, moreDigits = 0): string {
  const magnitude = Math.abs(ms);
  const place = DURATION_STEPS.findIndex(([end]) => magnitude < end) - moreDigits;
  const step = DURATION_STEPS[place]?.[1] ?? 10 ** Math.min(place, 0);
  // Less than a millisecond is no reason to print 0.
  const isTiny = magnitude > 0 && magnitude < step / 2;
  const rounded = isTiny ? magnitude : Number((Math.round(magnitude / step) * step).toPrecision(15));
  if (rounded < SECOND_MS) return sign(ms, `${formatMagnitude(rounded, isTiny ? 2 : 17)}${SPACE}ms`);
  return sign(ms, listUnits(rounded).join(SPACE));
}

function listUnits(ms: number): string[] {
  let rest = ms;
  return DURATION_UNITS.flatMap(([size, unit]) => {
    const amount = unit === 's' ? Number((rest / size).toPrecision(15)) : Math.floor(rest / size);
    rest -= amount * size;
    return amount === 0 ? [] : [`${formatNumber(amount, MORE_DIGITS_MAX)}${SPACE}${unit}`];
  });
}

/**
 * Returns `format` with the fewest additional digits that give two different values, and the middle between them, different
 * texts: then the texts differ by about as much as the values. Values that are compared with each other, such as both sides
 * of an experiment, are written with what this returns.
 */
export function distinguish(
  values: Iterable<number | null | undefined>,
  format: Format = formatValue,
): (value: number) => string {
  const distinct = [...new Set(values)]
    .filter((value) => typeof value === 'number')
    .toSorted((one, other) => one - other);
  // Between neighbouring doubles there is no middle.
  const written = new Set(
    distinct.flatMap((value, index) => [value, value / 2 + (distinct[index + 1] ?? value) / 2]),
  );
  let moreDigits = 0;
  const isAmbiguous = (): boolean =>
    new Set([...written].map((value) => format(value, moreDigits))).size < written.size;
  while (moreDigits < MORE_DIGITS_MAX && isAmbiguous()) moreDigits += 1;
  return (value) => format(value, moreDigits);
}

/** Returns the texts of values that stand beside each other, such as the means of both sides; a dash stands for none. */
export function formatSides(
  values: readonly (number | null | undefined)[],
  format: Format = formatValue,
): string[] {
  const write = distinguish(values, format);
  return values.map((value) => (typeof value === 'number' ? write(value) : '–'));
}
