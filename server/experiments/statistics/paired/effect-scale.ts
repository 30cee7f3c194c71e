/** The scale of an indicator: relative or absolute, its equivalence margin, and the direction of its effects. */
import {
  formatExactPercent,
  formatPercent,
  formatSigned,
  formatValue,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { CONFIDENCE, type Interval } from '../bootstrap.ts';
import { computeStudentTQuantile } from '../distributions.ts';
import { computeScale, mean, standardDeviation } from '../numbers.ts';
import type { PairedInput } from './outcomes.ts';
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

/**
 * Warns of single zeros: an input with 0 on one side has no ratio, so that all inputs are compared by differences. Where most
 * inputs have such a zero, as counts of rare events do, differences are the natural scale.
 */
export function warnOfZeros(
  settings: { measure: Measure | 'auto'; margin: Margin; shift: number },
  measure: Measure,
  inputs: readonly PairedInput[],
): string[] {
  if (measure === 'relative' || !prefersRelative(settings) || settings.shift > 0) return [];
  const sides = inputs.map(({ input_id, pairs }) => ({
    input_id,
    pair: pairs.find(({ control, candidate }) => (control === 0) !== (candidate === 0)),
    values: pairs
      .flatMap(({ control, candidate }) => [control, candidate])
      .filter((one) => typeof one === 'number'),
  }));
  const zeros = sides.filter(({ pair, values }) => pair !== undefined && values.length > 0);
  const [first] = zeros;
  const hasNegative = sides.some(({ values }) => values.some((value) => value < 0));
  if (first?.pair === undefined || hasNegative || 2 * zeros.length > inputs.length) return [];
  const side = first.pair.control === 0 ? 'control' : 'candidate';
  const others = zeros.length > 1 ? ` and ${zeros.length - 1} more` : '';
  return [
    `The ${side} has the value 0 on ${JSON.stringify(first.input_id)}${others}: ratios do not exist, so the comparison is by differences, which large inputs dominate. A \`shift\` in the objective makes ratios of all.`,
  ];
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
