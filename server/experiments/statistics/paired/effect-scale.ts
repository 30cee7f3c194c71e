/** The scale of an indicator: relative or absolute, its equivalence margin, and the direction of its effects. */
import type { Interval } from '../bootstrap.ts';
import { mean } from '../numbers.ts';
import type { Measure } from './units.ts';

/** The largest difference at which two sides are equivalent. */
export interface Margin {
  /** `relative`: a share of the control; `absolute`: in the unit of the indicator. */
  type: 'absolute' | 'relative';
  value: number;
}

/** Returns true if the settings ask for ratios where every value is positive. */
export function prefersRelative({ measure, margin }: { measure: Measure | 'auto'; margin: Margin }): boolean {
  return measure === 'auto' ? margin.type === 'relative' : measure === 'relative';
}

/** Warns of an objective that asks for ratios where a value has none. */
export function warnOfMissingRatios(
  requested: { measure: Measure | 'auto'; shift: number },
  measure: Measure,
): string[] {
  if (requested.measure !== 'relative' || measure === 'relative') return [];
  const value = requested.shift > 0 ? 'value plus the shift' : 'value';
  return [
    `The objective asks for ratios, but not every ${value} is above 0: the comparison is by differences.`,
  ];
}

/** Returns half the width of the equivalence region on the scale of the effect. `controls` are multiplied by `factor`. */
export function computeMargin(
  margin: Margin,
  { measure, factor }: { measure: Measure; factor: number },
  controls: readonly number[],
): number {
  if (measure === 'relative') return Math.log1p(margin.value);
  if (margin.type === 'absolute') return margin.value * factor;
  return controls.length === 0 ? 0 : margin.value * Math.abs(mean(controls));
}

/** Returns the interval in the direction of the orientation. */
export function orientInterval(interval: Interval | null, orientation: 1 | -1): Interval | null {
  if (interval === null || orientation > 0) return interval;
  return { low: -interval.high, high: -interval.low };
}
