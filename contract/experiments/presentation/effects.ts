/** The effect of a comparison as a change around 0, with its interval and margin. */

import { formatNumber, formatSignificant } from '../../presentation/format-quantity.ts';
import type { Comparison } from '../experiment-results.ts';

/** The fields of a comparison that say how large a change is. Comparisons of every type of experiment have them. */
export type MeasuredComparison = Pick<
  Comparison,
  'measure' | 'geometric_mean_ratio' | 'mean_difference' | 'tolerance'
> & { control: { mean: number | null } };

export type Measure = NonNullable<Comparison['measure']>;

/** A change of the candidate against the control: a share for the relative measure, else in the indicator's unit. */
export interface Effect {
  measure: Measure;
  value: number | null;
  low: number | null;
  high: number | null;
  /** Changes that count as equivalent; null where the control has no mean. */
  margin: { low: number; high: number } | null;
}

/** Returns the effect on which the verdict depends. A ratio of 0.9 is a change of -0.1. */
export function readEffect(comparison: MeasuredComparison): Effect {
  // Stored results of older releases have differences alone.
  const { measure = 'absolute' } = comparison;
  const isRelative = measure === 'relative';
  const estimate = (isRelative ? comparison.geometric_mean_ratio : comparison.mean_difference) ?? null;
  const origin = isRelative ? 1 : 0;
  return {
    measure,
    value: estimate === null ? null : estimate.value - origin,
    low: estimate?.interval ? estimate.interval.low - origin : null,
    high: estimate?.interval ? estimate.interval.high - origin : null,
    margin: readMargin(comparison),
  };
}

/** The margin of a ratio is the same in both directions on the scale of logarithms: 1 % is from 1/1.01 to 1.01. */
function readMargin({ measure, tolerance, control }: MeasuredComparison): Effect['margin'] {
  const { type, value } = tolerance;
  if (measure === 'relative') return { low: -value / (1 + value), high: value };
  if (type === 'absolute') return { low: -value, high: value };
  if (control.mean === null) return null;
  const share = value * Math.abs(control.mean);
  return { low: -share, high: share };
}

const PERCENT_DIGITS = 3;
const NUMBER_DIGITS = 4;

/** Formats a change with its sign: `-7.8 %` for the relative measure, else `+12.5`. No line breaks before the sign of percent. */
export function formatChange(measure: Measure, change: number, moreDigits = 0): string {
  const size = formatSize(measure, Math.abs(change), moreDigits);
  if (/^0(\s%)?$/.test(size)) return size;
  return `${change < 0 ? '-' : '+'}${size}`;
}

function formatSize(measure: Measure, size: number, moreDigits: number): string {
  if (measure === 'absolute') return formatSignificant(size, NUMBER_DIGITS + moreDigits);
  const percent = Number((size * 100).toPrecision(PERCENT_DIGITS + moreDigits));
  // Hundredths of a percent are finer than any decision.
  return `${formatNumber(Number(percent.toFixed((percent < 1 ? 2 : 1) + moreDigits)))}\u00a0%`;
}

const MORE_DIGITS_MAX = 3;

/** Formats an interval: `-11.4 % to -4.6 %`, with more digits for a narrow one; null without one. */
export function formatInterval({ measure, low, high }: Effect): string | null {
  if (low === null || high === null) return null;
  let moreDigits = 0;
  const format = (end: number) => formatChange(measure, end, moreDigits);
  while (moreDigits < MORE_DIGITS_MAX && format(low) === format(high)) moreDigits += 1;
  // The ends are equal: more digits say nothing.
  if (format(low) === format(high)) moreDigits = 0;
  return `${format(low)} to ${format(high)}`;
}

/** Formats a p-value: `0.0012`, and `< 0.0001` below. */
export function formatPValue(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (value < 0.0001) return '< 0.0001';
  return formatSignificant(value, 2);
}

const EVIDENCE_DIGITS = 3;

/** Formats an e-value or its threshold; a dash without one. */
export function formatEvidence(value: number | null): string {
  return value === null ? '–' : formatSignificant(value, EVIDENCE_DIGITS);
}

const VALUE_DIGITS = 6;

/** Formats a value of an indicator with 6 significant digits; a dash without one. */
export function formatValue(value: number | null): string {
  return value === null ? '–' : formatSignificant(value, VALUE_DIGITS);
}
