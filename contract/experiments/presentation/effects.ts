/** The effect of a comparison as a change around 0, with its interval and margin. */

import {
  distinguish,
  type Format,
  formatEvidence,
  formatPercent,
  formatSigned,
  formatValue,
} from '../../presentation/format-quantity.ts';
import type { Comparison } from '../experiment-results.ts';

/** The fields of a comparison that say how large a change is. Comparisons of every type of experiment have them. */
export type MeasuredComparison = Pick<
  Comparison,
  'measure' | 'geometric_mean_ratio' | 'mean_difference' | 'tolerance'
> & {
  control: { mean: number | null };
  ratio?: Comparison['ratio'];
  adjusted_for?: readonly string[];
  interim?: boolean;
  sequential?: { interval: { low: number; high: number } | null } | null;
};

export type Measure = Comparison['measure'];

/** A change of the candidate against the control: a share for the relative measure, else in the indicator's unit. */
export interface Effect {
  measure: Measure;
  value: number | null;
  low: number | null;
  high: number | null;
  /** Changes that count as equivalent; null where the control has no mean. */
  margin: { low: number; high: number } | null;
  /** Properties of a unit whose influence is removed; absent for none. */
  adjustedFor?: readonly string[];
  /** True where the interval is the one that decides before the end, and holds however often someone looks. */
  isInterim?: boolean;
  /** True where the interval of the total does not show a change in the direction of the typical one. */
  isTotalOpen?: boolean;
}

/** Returns the effect on which the verdict depends. A ratio of 0.9 is a change of -0.1. */
export function readEffect(comparison: MeasuredComparison): Effect {
  const { measure } = comparison;
  const isRelative = measure === 'relative';
  const estimate = isRelative ? comparison.geometric_mean_ratio : comparison.mean_difference;
  const origin = isRelative ? 1 : 0;
  // An interval for one look does not hold for several.
  const interval = (comparison.interim ? comparison.sequential : estimate)?.interval ?? null;
  return {
    measure,
    value: estimate === null ? null : estimate.value - origin,
    low: interval === null ? null : interval.low - origin,
    high: interval === null ? null : interval.high - origin,
    margin: readMargin(comparison),
    ...(comparison.interim ? { isInterim: true } : {}),
    ...(comparison.adjusted_for?.length ? { adjustedFor: comparison.adjusted_for } : {}),
    ...(isRelative && estimate !== null && isTotalOpen(estimate.value, comparison.ratio)
      ? { isTotalOpen: true }
      : {}),
  };
}

function isTotalOpen(typical: number, total: Comparison['ratio'] | undefined): boolean {
  if (!total?.interval) return false;
  return typical > 1 ? total.interval.low <= 1 : total.interval.high >= 1;
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

const CHANGE_DIGITS = 4;

/** Formats the size of a difference: `7.8 %` for the relative measure, else `12.5`. */
export function formatSize(measure: Measure, size: number, moreDigits = 0): string {
  return measure === 'relative' ? formatPercent(size, moreDigits) : formatUnits(size, moreDigits);
}

/** Formats a change with its sign: `−7.8 %` for the relative measure, else `+12.5`. */
export function formatChange(measure: Measure, change: number, moreDigits = 0): string {
  return formatSigned(change, (size, more) => formatSize(measure, size, more), moreDigits);
}

const formatUnits: Format = (change, moreDigits) => formatValue(change, moreDigits, CHANGE_DIGITS);

/** An interval narrower than this share of its ends has no width but the rounding of equal changes. */
const EQUAL_CHANGES_SHARE = 1e-9;

/** Returns true for an interval of which both ends are the same change. */
export function isOneChange({ low, high }: { low: number; high: number }): boolean {
  return high - low <= EQUAL_CHANGES_SHARE * Math.max(Math.abs(low), Math.abs(high));
}

/** Nobody reads a fifth digit, so the ends of a very narrow interval have the same text. */
const INTERVAL_MORE_DIGITS_MAX = 1;

/** Formats an interval: `−11.4 % to −4.6 %`, with one more digit for a narrow one, and one value for equal ends; null without one. */
export function formatInterval(effect: Effect): string | null {
  const ends = formatEnds(effect);
  return ends && [...new Set(ends)].join(' to ');
}

/** Returns the texts of the ends of an interval, which may be equal; null without one. */
export function formatEnds({ measure, low, high }: Effect): readonly [low: string, high: string] | null {
  if (low === null || high === null) return null;
  const ends = isOneChange({ low, high }) ? [low] : [low, high];
  const format = distinguish(ends, (end, moreDigits = 0) =>
    formatChange(measure, end, Math.min(moreDigits, INTERVAL_MORE_DIGITS_MAX)),
  );
  return [format(low), format(high)];
}

/** Formats a p-value: `0.0012`, and `< 0.0001` below. */
export function formatPValue(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  return value < 0.0001 ? '< 0.0001' : formatEvidence(value);
}

const ADJUSTMENTS: Readonly<Record<string, string>> = {
  trend: 'a trend',
  time_of_day: 'the time of day',
  day: 'the day',
};

/** Says what an estimate is adjusted for, which stands beside it: `adjusted for a trend`; empty for nothing. */
export function formatAdjustment({ adjustedFor = [] }: Effect): string {
  const names = adjustedFor.map((name) => ADJUSTMENTS[name] ?? name);
  return names.length === 0 ? '' : `adjusted for ${names.join(' and ')}`;
}

/** Formats the estimate and what it is adjusted for; empty without one. */
export function formatEstimate(effect: Effect): string {
  if (effect.value === null) return '';
  const adjustment = formatAdjustment(effect);
  return `${formatChange(effect.measure, effect.value)}${adjustment && `, ${adjustment}`}`;
}
