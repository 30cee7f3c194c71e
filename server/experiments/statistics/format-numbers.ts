/** Numbers in sentences for readers. */
import { clampToFinite } from './numbers.ts';

/** The largest double of two digits. */
const TWO_DIGITS_MAX = 1.7e308;

/** Rounds to two digits, which p-values, e-values and bounds have in sentences. The result is finite. */
export function roundToTwoDigits(value: number): number {
  const rounded = Number(value.toPrecision(2));
  return Math.abs(rounded) > TWO_DIGITS_MAX ? Math.sign(rounded) * TWO_DIGITS_MAX : rounded;
}

/** Formats a share: 0.05 is "5 %". The number of per cent of a large share is above the largest double: "1e+310 %". */
export function formatPercent(share: number, digits = 2): string {
  const percent = Number((100 * share).toPrecision(digits));
  if (Number.isFinite(percent)) return `${percent} %`;
  const [mantissa, exponent] = clampToFinite(share)
    .toExponential(digits - 1)
    .split('e');
  return `${Number(mantissa)}e+${Number(exponent) + 2} %`;
}

/** The digits of a share that a person has set: enough for any, without the rounding errors of doubles. */
export const EXACT_DIGITS = 12;
