/** Numbers in sentences for readers. */
import { clampToFinite } from './numbers.ts';

/** Rounds to two digits, which p-values, e-values and bounds have in sentences. */
export function roundToTwoDigits(value: number): number {
  return Number(value.toPrecision(2));
}

/** Formats a share: 0.05 is "5 %". */
export function formatPercent(share: number, digits = 2): string {
  return `${Number(clampToFinite(100 * share).toPrecision(digits))} %`;
}

/** The digits of a share that a person has set: enough for any, without the rounding errors of doubles. */
export const EXACT_DIGITS = 12;
