/**
 * The paired comparison of a candidate against a control for one indicator: batch, scenario, shadow and acceptance tests.
 *
 * The unit is a distinct input content, averaged over its repetitions. The relative measure is the default where every
 * value is above 0. It compares ln(candidate / control), so that the size of an input does not change its weight. With
 * sizes spread over two orders of magnitude, this doubles the power and restores the coverage of the interval. The result
 * has the total too: the difference of the means. It does not depend on the order of the runs.
 */

import { estimateBoundedMeanInterval, LARGEST_LOSS_DEFAULT } from '../betting.ts';
import {
  CONFIDENCE,
  estimateMeanInterval,
  estimateRatioInterval,
  INTERVAL_INPUTS_MIN,
  type Interval,
  type Resampler,
} from '../bootstrap.ts';
import {
  computeMargin,
  type Direction,
  type EffectScale,
  type IndicatorSettings,
  type LossBound,
  type Measure,
  prefersRelative,
  readLargestLoss,
  resolveLossBound,
} from '../comparison/effect-scale.ts';
import { measureInterim } from '../comparison/interim.ts';
import type { MeasuredUnits } from '../comparison/pipeline.ts';
import {
  computeBlockMeans,
  computeEffectiveSampleSize,
  describeClustering,
  describeSlowChange,
  estimateSerialCorrelation,
  estimateSerialMean,
  LONG_SERIES_MIN,
  POSSIBLY_RELATED_P_VALUE_MAX,
  testNeighbours,
  type UnitDependence,
} from '../dependence.ts';
import { computeStudentTQuantile } from '../distributions.ts';
import { chooseFinalAlpha, FINAL_ALPHA } from '../error-rates.ts';
import { computeScale, mean, standardDeviation } from '../numbers.ts';
import { countMissing, type Observation } from '../observations.ts';
import { reconcileInterval } from './decisive-interval.ts';
import { boundOthers, compareFailures, type FailureComparison, hasLoss } from './losses.ts';
import { describeRelation, labelRelatedUnits, type Relation } from './relation.ts';
import { findLoser, type ScoreTests, scoreWorstRanks, testScores } from './signed-rank.ts';
import { widenForLargeInputs } from './totals.ts';
import { buildUnits, hasRatios, type PairedInput, type PairedUnit, pairOutcomes } from './units.ts';

/** The design of an experiment, as far as its measurement needs it. */
export interface ComparisonDesign {
  /** Units are in time order and may resemble their neighbours. */
  serial: boolean;
  /** Units are in the order of times that may be far apart: they count as serial where neighbours resemble each other. */
  possibly_serial?: boolean;
  /** Clusterings of the inputs to test by, such as `caller` and `day`; the labels are in the observations. */
  clusterings: readonly string[];
  /** Nobody declared clusterings, so the comparison looks for units that are versions of each other; false by default. */
  seeks_relation?: boolean;
  resampler: Resampler;
  /** The confidence of the interval; 0.95 by default. */
  confidence?: number;
}

/** The effects and p-values of one indicator, before the correction of the family. */
export interface PairedMeasurement extends MeasuredUnits {
  inputs: readonly PairedInput[];
  /** Sides whose runs succeeded, but never with a number of the indicator. */
  unreported: readonly ('control' | 'candidate')[];
  /** Units in the order of the plan. */
  units: readonly PairedUnit[];
  /** Units in which both sides ended. */
  complete: readonly PairedUnit[];
  pending: number;
  measure: Measure;
  /** The declared bound of the change of one unit, which decides the interval; null without one. */
  loss_bound: LossBound | null;
  /** Mean of the differences that ties hide, on the scale of the effect: so much further away the mean effect may be. */
  hidden_effect: number;
  test: ScoreTests['test'];
  /** The test that decides. */
  flips: ScoreTests['flips'];
  failures: FailureComparison;
  dependence: UnitDependence;
  /** Null where clusterings are declared, and for fewer than ten units. */
  relation: Relation | null;
  /** Effects in the order of the plan, for the confidence sequence; infinite for a unit that one side lost. */
  interim_effects: readonly number[];
  /** Standard deviation of the effects between units. */
  spread: number;
  /** Units in which the candidate is worse: their share and its upper 95 % bound. */
  losses: { share: number; upper: number } | null;
}

/** Measures one indicator, as the head of this file describes. */
export function measureIndicator(
  sides: { control: readonly Observation[]; candidate: readonly Observation[] },
  indicator: string,
  settings: IndicatorSettings,
  design: ComparisonDesign,
): PairedMeasurement {
  const inputs = pairOutcomes(sides.control, sides.candidate, indicator);
  const scale = chooseScale(inputs, settings);
  const units = buildUnits(inputs, scale);
  const orientation = settings.direction === 'maximize' ? -1 : 1;
  const ended = units.filter(({ state }) => state === 'complete');
  const scores =
    settings.direction === 'none'
      ? Float64Array.from(ended, ({ effect }) => effect ?? 0)
      : scoreWorstRanks(ended, orientation);
  const relation = design.seeks_relation ? describeRelation(ended, scores, design.resampler.seed) : null;
  const complete = labelRelatedUnits(ended, relation);
  const valued = complete.filter(({ effect }) => effect !== null);
  const effects = Float64Array.from(valued, ({ effect }) => effect ?? 0);
  const controls = valued.map(({ control }) => (control ?? 0) * scale.factor);
  const lossBound = resolveLossBound(settings.largest_loss, scale, valued);
  const dependence = describeDependence(complete, {
    ...design,
    clusterings: [...design.clusterings, ...(relation?.by ? [relation.by] : [])],
  });
  const interimUnits = selectEndedPrefix(units).map((unit) => ({
    effect: computeInterimEffect(unit, settings.direction, orientation),
    magnitude: Math.max(Math.abs(unit.control ?? 0), Math.abs(unit.candidate ?? 0)) * scale.factor,
  }));
  const tests = testScores(scores, dependence, design.resampler);
  const final_alpha = design.serial ? FINAL_ALPHA : chooseFinalAlpha(units.length);
  return {
    inputs,
    unreported: (['control', 'candidate'] as const).filter((side) => !isReported(sides[side], indicator)),
    units,
    complete,
    pending: units.filter(({ state }) => state === 'pending').length,
    measure: scale.measure,
    orientation,
    effect: effects.length === 0 ? null : mean(effects),
    interval: decideInterval(valued, effects, dependence, {
      ...design,
      bound: lossBound?.value ?? null,
      scale,
      final_alpha,
    }),
    loss_bound: lossBound,
    hidden_effect: valued.length === 0 ? 0 : mean(valued.map(({ hidden_effect }) => hidden_effect)),
    margin: computeMargin(settings.margin, scale, controls),
    ...tests,
    p_values: [tests.flips.p_value, tests.test.p_value],
    final_alpha,
    failures: compareFailures(complete, selectFailureClusters(dependence)),
    dependence,
    relation,
    interim:
      final_alpha === FINAL_ALPHA && allowsInterimVerdict(dependence, design)
        ? measureInterim(interimUnits, {
            ...{ measure: scale.measure, orientation, serial: design.serial },
            largestLoss: readLargestLoss(settings, LARGEST_LOSS_DEFAULT),
          })
        : null,
    interim_effects: interimUnits.map(({ effect }) => effect),
    spread: standardDeviation(effects),
    losses: settings.direction === 'none' ? null : describeLosses(complete, dependence, orientation),
    scale,
  };
}

/** Returns false for a side that succeeds and never reports the indicator. That is no failure, and no basis for a verdict. */
function isReported(runs: readonly Observation[], indicator: string): boolean {
  const succeeded = runs.filter(({ status }) => status === 'succeeded');
  return succeeded.length === 0 || countMissing(succeeded, indicator) < succeeded.length;
}

function chooseScale(inputs: readonly PairedInput[], settings: IndicatorSettings): EffectScale {
  const { tie_tolerance, shift } = settings;
  const measure = prefersRelative(settings) && hasRatios(inputs, shift) ? 'relative' : 'absolute';
  const values = inputs.flatMap(({ pairs }) =>
    pairs.flatMap(({ control, candidate }) =>
      [control, candidate].map((outcome) => (typeof outcome === 'number' ? outcome : 0)),
    ),
  );
  return { measure, tie_tolerance, shift, factor: measure === 'relative' ? 1 : computeScale(values).factor };
}

function describeDependence(
  units: readonly PairedUnit[],
  { serial, possibly_serial = false, clusterings, resampler }: ComparisonDesign,
): UnitDependence {
  const values = Float64Array.from(units, ({ effect }) => effect ?? 0);
  const losses = Float64Array.from(units, findLoser);
  const isTested = possibly_serial || (serial && values.length < LONG_SERIES_MIN);
  const neighbours_p_value = isTested
    ? Math.min(testNeighbours(values, resampler.seed), testNeighbours(losses, resampler.seed))
    : null;
  const isSerial =
    serial || (neighbours_p_value !== null && neighbours_p_value <= POSSIBLY_RELATED_P_VALUE_MAX);
  const correlation = isSerial ? estimateSerialCorrelation(values) : null;
  return {
    serial_correlation: correlation,
    neighbours_p_value,
    slow_change: serial || possibly_serial ? describeSlowChange(values, resampler.seed) : null,
    effective_sample_size: computeEffectiveSampleSize(units.length, correlation ?? 0),
    clusterings: clusterings.flatMap((by) => {
      const labels = units.map((unit) => unit.clusters[by] ?? '');
      return describeClustering(by, labels, { values, losses, seed: resampler.seed }) ?? [];
    }),
  };
}

/**
 * Returns false for several clusters, and for related units that ran in a random order. The sequential test holds for one
 * sequence of units, not for mixed ones.
 */
function allowsInterimVerdict(
  { clusterings, serial_correlation }: UnitDependence,
  { serial }: ComparisonDesign,
): boolean {
  return clusterings.length === 0 && (serial || serial_correlation === null);
}

/** Returns the interval of a verdict: that of the mean effect, which agrees with the test where units are independent. */
function decideInterval(
  units: readonly PairedUnit[],
  effects: Float64Array,
  dependence: UnitDependence,
  design: ComparisonDesign & { bound: number | null; scale: EffectScale; final_alpha: number },
): Interval | null {
  const { bound, scale, resampler, confidence = CONFIDENCE } = design;
  const interval = estimateEffectInterval(units, effects, dependence, design);
  if (interval === null || bound !== null) return interval;
  const isIndependent =
    dependence.serial_correlation === null && dependence.clusterings.every(({ use }) => use !== 'tested');
  const decisive =
    isIndependent && design.confidence === undefined
      ? reconcileInterval(interval, effects, { resampler, errorRate: design.final_alpha })
      : interval;
  if (scale.measure === 'relative') return decisive;
  const sized = units.map(({ control, effect }) => ({
    size: Math.abs((control ?? 0) * scale.factor),
    difference: effect ?? 0,
  }));
  return widenForLargeInputs(decisive, sized, { resampler, confidence });
}

/** Returns the interval of the mean effect: the hull of the one over independent units and those by cluster. */
function estimateEffectInterval(
  units: readonly PairedUnit[],
  effects: Float64Array,
  { serial_correlation, clusterings }: UnitDependence,
  { resampler, confidence = CONFIDENCE, bound = null }: ComparisonDesign & { bound?: number | null },
): Interval | null {
  const plain =
    bound === null || effects.length < INTERVAL_INPUTS_MIN
      ? estimateMeanInterval(effects, resampler, confidence)
      : estimateBoundedMeanInterval(effects, bound, confidence);
  if (plain === null) return null;
  const probability = (1 + confidence) / 2;
  const effective = computeEffectiveSampleSize(effects.length, serial_correlation ?? 0);
  const intervals = [widenInterval(plain, mean(effects), { count: effects.length, effective, probability })];
  if (serial_correlation !== null)
    intervals.push(...computeBlockMeans(effects).map((blocks) => estimateBlockInterval(blocks, probability)));
  for (const { by, use } of clusterings) {
    if (use !== 'tested') continue;
    const sums = new Map<string, { size: number; sum: number }>();
    for (const unit of units) {
      const entry = sums.get(unit.clusters[by] ?? '') ?? { size: 0, sum: 0 };
      sums.set(unit.clusters[by] ?? '', { size: entry.size + 1, sum: entry.sum + (unit.effect ?? 0) });
    }
    const clusters = [...sums.values()];
    const interval = estimateRatioInterval(
      Float64Array.from(clusters, ({ size }) => size),
      Float64Array.from(clusters, ({ sum }) => sum),
      resampler,
      confidence,
    );
    if (interval === null) return null;
    intervals.push(interval);
  }
  return {
    low: Math.min(...intervals.map(({ low }) => low)),
    high: Math.max(...intervals.map(({ high }) => high)),
  };
}

/**
 * Returns the mean effect of some units with its interval, on the scale of the measure. The interval is null below five
 * units, and for too few clusters that may differ.
 */
export function estimateSubset(
  units: readonly PairedUnit[],
  design: ComparisonDesign,
): { effect: number | null; interval: Interval | null } {
  const valued = units.filter(({ effect }) => effect !== null);
  const effects = Float64Array.from(valued, ({ effect }) => effect ?? 0);
  const dependence = describeDependence(units, design);
  const isOpen = dependence.clusterings.some(({ use }) => use === 'different');
  return {
    effect: effects.length === 0 ? null : mean(effects),
    interval: isOpen ? null : estimateEffectInterval(valued, effects, dependence, design),
  };
}

/** Returns the interval of a mean of `count` units that say as much as `effective` independent ones. */
function widenInterval(
  { low, high }: Interval,
  centre: number,
  { count, effective, probability }: { count: number; effective: number; probability: number },
): Interval {
  if (effective >= count) return { low, high };
  const quantile = (size: number) => computeStudentTQuantile(probability, Math.max(1, size - 1));
  const factor = Math.sqrt(count / effective) * (quantile(effective) / quantile(count));
  return { low: centre - factor * (centre - low), high: centre + factor * (high - centre) };
}

function estimateBlockInterval(blocks: Float64Array, probability: number): Interval {
  const { mean: centre, error, effective } = estimateSerialMean(blocks, 0);
  const half = computeStudentTQuantile(probability, Math.max(1, effective - 1)) * error;
  return { low: centre - half, high: centre + half };
}

/** Returns the labels of the tested clustering with the fewest clusters, on which failures depend most. */
function selectFailureClusters({ clusterings }: UnitDependence): readonly string[] | undefined {
  const tested = clusterings.filter(({ use }) => use === 'tested').sort((a, b) => a.effective - b.effective);
  return tested[0]?.labels;
}

/**
 * Returns the units before the first unfinished one: units that end early are no random sample of all. The order is that of
 * their randomised blocks, in which they end; without blocks it is that of the plan.
 */
function selectEndedPrefix(units: readonly PairedUnit[]): PairedUnit[] {
  const hasBlocks = units.every(({ last_block }) => last_block !== null);
  const ordered = hasBlocks ? units.toSorted((a, b) => (a.last_block ?? 0) - (b.last_block ?? 0)) : units;
  const end = ordered.findIndex(({ state }) => state === 'pending');
  return ordered.slice(0, end === -1 ? ordered.length : end).filter(({ state }) => state === 'complete');
}

function computeInterimEffect(unit: PairedUnit, direction: Direction, orientation: 1 | -1): number {
  const lost = direction === 'none' ? 0 : findLoser(unit);
  return lost === 0 ? (unit.effect ?? 0) * orientation : lost * Number.POSITIVE_INFINITY;
}

function describeLosses(
  units: readonly PairedUnit[],
  dependence: UnitDependence,
  orientation: 1 | -1,
): PairedMeasurement['losses'] {
  if (units.length === 0) return null;
  const isLost = (unit: PairedUnit) => hasLoss(1, unit, orientation);
  const share = units.filter(isLost).length / units.length;
  return { share, upper: boundOthers(units, dependence, isLost) };
}
