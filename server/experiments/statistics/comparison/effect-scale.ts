/** The scale of an indicator: relative or absolute, its equivalence margin, and the direction of its effects. */
import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import {
  formatExactPercent,
  formatPercent,
  formatSigned,
  formatValue,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { CONFIDENCE, type Interval } from '../bootstrap.ts';
import { computeStudentTQuantile } from '../distributions.ts';
import { clampToFinite, computeScale, mean, standardDeviation } from '../numbers.ts';

/** The scale on which candidate and control are compared. */
export type Measure = 'relative' | 'absolute';

/** Measure, tie tolerance and shift of an indicator. */
export interface EffectScale {
  measure: Measure;
  /** Share of the larger magnitude up to which two values tie. */
  tie_tolerance: number;
  /** Added to every value before a ratio is taken, such as 10 s for solution times (IPET); 0 by default. */
  shift: number;
  /** A power of two by which values are multiplied before differences are taken, so that they cannot overflow. */
  factor: number;
}

/** The largest difference at which two sides are equivalent. */
export interface Margin {
  /** `relative`: a share of the control; `absolute`: in the unit of the indicator. */
  type: 'absolute' | 'relative';
  value: number;
}

/** The direction in which an indicator improves. */
export type Direction = 'minimize' | 'maximize' | 'none';

/** The settings of one indicator's comparison. */
export interface IndicatorSettings {
  direction: Direction;
  /** `auto`: relative where every value is above 0, else absolute. */
  measure: Measure | 'auto';
  margin: Margin;
  tie_tolerance: number;
  /** Added to every value before a ratio is taken. */
  shift: number;
  /** The largest change of one unit that can occur, in either direction; null: unknown. */
  largest_loss: Margin | null;
}

/** A number with its 95 % interval; the interval is null with too few units, or with too few that differ. */
export type Estimate = NonNullable<Comparison['ratio']>;

/** Converts an effect to the scale that people read. Its interval contains the estimate even after rounding. */
export function convertEstimate(
  effect: number | null,
  interval: Interval | null,
  convert: (value: number) => number,
): Estimate | null {
  if (effect === null) return null;
  const value = clampToFinite(convert(effect));
  if (interval === null) return { value, interval: null };
  const low = Math.min(value, clampToFinite(convert(interval.low)));
  return { value, interval: { low, high: Math.max(value, clampToFinite(convert(interval.high))) } };
}

type ReadableScale = Pick<EffectScale, 'measure' | 'factor'>;

/** Returns the function that converts effects to the scale that people read: to ratios, or to differences. */
export function createEffectReader({ measure, factor }: ReadableScale): (effect: number) => number {
  return measure === 'relative' ? Math.exp : (effect) => effect / factor;
}

/** Converts a size of effects to the scale that people read: a share, or a difference. */
export function readSize(size: number, { measure, factor }: ReadableScale): number {
  return measure === 'relative' ? Math.expm1(size) : size / factor;
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

/** Significant digits of the ends of an interval in a sentence. */
const ENDS_DIGITS = 3;

/**
 * Warns of a margin or tolerance that is a share of a mean near 0, because its size is an accident of the sample. A mean of the
 * control is near 0 when its 95 % interval contains 0 (Student's t).
 */
export function warnOfSmallControl(
  { type, value }: { type: string; value: number },
  values: readonly number[],
  word: 'margin' | 'tolerance',
): string[] {
  if (type !== 'relative' || value === 0 || values.length < 2) return [];
  const { factor, inverse } = computeScale(values);
  const scaled = Float64Array.from(values, (one) => one * factor);
  const centre = mean(scaled);
  const error = standardDeviation(scaled) / Math.sqrt(scaled.length);
  const half = computeStudentTQuantile((1 + CONFIDENCE) / 2, scaled.length - 1) * error;
  if (Math.abs(centre) > half) return [];
  const [low, high] = [-1, 1].map((side) => formatValue((centre + side * half) * inverse, 0, ENDS_DIGITS));
  return [
    `The mean of the control is near 0 (95\u00a0% interval ${low} to ${high}), and the ${word} of ${formatExactPercent(value)} is a share of it: give an absolute ${word}.`,
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

/** A bound of the change of one unit, on the scale of the effect; `refusal` says why it does not hold. */
export type LossBound = { value: number; refusal: null } | { value: null; refusal: string };

/** Returns the bound that `largest_loss` declares; null without one. A unit beyond it shows that the bound does not hold. */
export function resolveLossBound(
  largest: Margin | null,
  scale: { measure: Measure; factor: number },
  valued: readonly { input_ids: readonly string[]; control: number | null; effect: number | null }[],
): LossBound | null {
  if (largest === null) return null;
  const controls = valued.map(({ control }) => (control ?? 0) * scale.factor);
  const value = computeMargin(largest, scale, controls);
  const beyond = valued.find(({ effect }) => Math.abs(effect ?? 0) > value * (1 + ROUNDING_SHARE));
  if (beyond === undefined) return { value, refusal: null };
  return {
    value: null,
    refusal: `largest_loss is ${formatLargestLoss(largest)}${formatRange(largest, scale.measure)}, and ${JSON.stringify(beyond.input_ids[0] ?? '')} changed by more: the bound does not hold, so it is not used.`,
  };
}

/** A change of exactly the bound may be beyond it by what doubles round. */
const ROUNDING_SHARE = 1e-9;

/** Says how far a ratio may change: as far down as up on the scale of logarithms. */
function formatRange({ value }: Margin, measure: Measure): string {
  if (measure !== 'relative') return '';
  const format = (share: number) => formatSigned(share, formatPercent);
  return ` (from ${format(-value / (1 + value))} to ${format(value)})`;
}

/** Formats the declared bound: "50 %", or the number of an absolute one. */
export function formatLargestLoss({ type, value }: Margin): string {
  return type === 'relative' ? formatExactPercent(value) : `${value}`;
}

/** Returns the interval in the direction of the orientation. */
export function orientInterval(interval: Interval | null, orientation: 1 | -1): Interval | null {
  if (interval === null || orientation > 0) return interval;
  return { low: -interval.high, high: -interval.low };
}

/** Returns the declared bound of the change of one unit as a share; the default without one. */
export function readLargestLoss(
  { largest_loss }: { largest_loss: Margin | null },
  byDefault: number,
): number {
  return largest_loss?.type === 'relative' ? largest_loss.value : byDefault;
}
