/**
 * All comparisons of an experiment as one family. Measures every indicator of every candidate, corrects the p-values of all
 * comparisons together, and decides the verdicts.
 */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { formatExactPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Resampling } from '../bootstrap.ts';
import { INTERIM_ALPHA } from '../error-rates.ts';
import { clampToFinite } from '../numbers.ts';
import type { Observation } from '../observations.ts';
import {
  type ComparisonDesign,
  type IndicatorSettings,
  measureIndicator,
  type PairedMeasurement,
} from './compare.ts';
import type { Clustering, SlowChange } from './dependence.ts';
import {
  type Margin,
  orientInterval,
  warnOfMissingRatios,
  warnOfSmallControl,
  warnOfZeros,
} from './effect-scale.ts';
import {
  convertEstimate,
  type Estimate,
  estimateTotals,
  estimateWithFailures,
  type PenalizedMeans,
} from './estimates.ts';
import type { FailureComparison } from './failures.ts';
import { computeConfidenceSequence } from './interim.ts';
import { isMeanChangeOpen } from './mean-change.ts';
import { adjustWeightedHolm, type Role, weighByRole } from './multiple-comparisons.ts';
import { explainRepetition, hintPlan, type PlanningHints } from './planning/planning-hints.ts';
import { formatRelation, type RelatedInputs } from './relation/explain-relation.ts';
import { explainScope } from './scope/verdict-scope.ts';
import type { FlipMethod } from './sign-flips/sign-flips.ts';
import { DIFFERING_UNITS_MIN } from './signed-rank.ts';
import {
  type ComparisonSide,
  describeSide,
  describeTies,
  isInformative,
  type Tally,
  tallyPairs,
  tallyUnits,
} from './tallies.ts';
import type { PairedUnit } from './units.ts';
import {
  type DecidedVerdict,
  type Direction,
  decideVerdict,
  type FailureEvidence,
  hasDirection,
  type Progress,
  type Verdict,
} from './verdict.ts';
import {
  listBlockers,
  listWarnings,
  warnOfFailureValue,
  warnOfLossBound,
  warnOfOppositeTotal,
} from './warnings.ts';

/** One indicator with its settings. */
export interface FamilyIndicator extends IndicatorSettings {
  indicator: string;
  role: Role;
  /** flag: the values are 1 for true and 0 for false, so that means are shares of true. */
  value_type: 'number' | 'flag';
  /** Share of units that the candidate may lose more than the control; null: none. */
  failure_margin: number | null;
  /** Value of a failed run in the means with failures; null: no such means. */
  failure_value: number | null;
}

/** A candidate with the control it is compared with. */
export interface FamilyGroup {
  control: readonly Observation[];
  candidate: readonly Observation[];
  /** The progress of this comparison alone; by default that of the experiment. */
  progress?: Progress;
}

/** The design of an experiment, and the reasons that exclude verdicts on some of its indicators. */
export interface FamilyDesign extends ComparisonDesign {
  unit: 'input' | 'original';
  progress: Progress;
  /** Reasons without a verdict for one indicator, such as a time measured under unequal load. */
  listIndicatorBlockers: (indicator: string, group: FamilyGroup) => readonly string[];
}

/** The fields that comparisons by input and by unit of time share, in the form of the API. */
export interface ComparedIndicator {
  indicator: string;
  value_type: 'number' | 'flag';
  role: Role;
  objective: Direction;
  verdict: Verdict;
  interim: boolean;
  reasons: string[];
  warnings: string[];
  measure: 'relative' | 'absolute';
  geometric_mean_ratio: Estimate | null;
  mean_difference: Estimate | null;
  tolerance: Margin;
}

/** The comparison of one indicator, in the form of the API: the contract describes the fields of `Comparison`. */
export interface Comparison extends ComparedIndicator, PlanningHints {
  ratio: Estimate | null;
  with_failures: PenalizedMeans | null;
  inputs: Tally;
  pairs: Tally;
  control: ComparisonSide;
  candidate: ComparisonSide;
  wilcoxon: {
    n: number;
    w_plus: number;
    w_minus: number;
    p_value: number | null;
    p_value_holm: number | null;
    method: 'exact' | 'normal';
    score: number;
  };
  /** The test that decides. */
  sign_flips: { p_value: number | null; p_value_holm: number | null; method: FlipMethod };
  failures: FailureComparison;
  losses: { share: number; upper: number } | null;
  dependence: {
    serial_correlation: number | null;
    slow_change: SlowChange | null;
    effective_sample_size: number;
    clusterings: Omit<Clustering, 'labels'>[];
  };
  related_inputs: RelatedInputs | null;
  sequential: {
    e_value: number;
    e_value_max: number;
    mean_e_value_max: number;
    largest_loss: number;
    threshold: number;
    interval: { low: number; high: number } | null;
  } | null;
  tie_tolerance: number;
  bootstrap: Resampling & { confidence: 0.95; method: 'studentized' };
}

/**
 * Compares every indicator of every group. Returns one list for each group, in the order of the groups. A list has one
 * comparison for each indicator.
 */
export function compareFamily(
  groups: readonly FamilyGroup[],
  indicators: readonly FamilyIndicator[],
  design: FamilyDesign,
): Comparison[][] {
  const tests = groups.flatMap((group) => indicators.map((indicator) => ({ group, indicator })));
  const measured = tests.map(({ group, indicator }) =>
    measureIndicator(group, indicator.indicator, indicator, design),
  );
  const weights = weighByRole(tests.map(({ indicator }) => indicator.role));
  const adjust = (test: 'flips' | 'test') =>
    adjustWeightedHolm(
      // The time of a drop depends on the data, so its p-value is none; 1 keeps its share of the family.
      measured.map((one, index) => (tests[index]?.group.progress === 'dropped' ? 1 : one[test].p_value)),
      weights,
    );
  const adjusted = adjust('flips');
  const adjustedRanks = adjust('test');
  const comparisons = tests.map(({ group, indicator }, index) => {
    const measurement = measured[index];
    if (measurement === undefined) throw new Error(`Indicator ${indicator.indicator} was not measured.`);
    return buildComparison(indicator, design, {
      group,
      measurement,
      p_value: adjusted[index] ?? null,
      ranks_p_value: adjustedRanks[index] ?? null,
      weight: weights[index] ?? 1,
    });
  });
  return groups.map((_group, index) =>
    comparisons.slice(index * indicators.length, (index + 1) * indicators.length),
  );
}

interface CorrectedMeasurement {
  group: FamilyGroup;
  measurement: PairedMeasurement;
  /** The adjusted p-value of the test that decides. */
  p_value: number | null;
  /** The adjusted p-value of the signed ranks alone. */
  ranks_p_value: number | null;
  /** Share of the error rate that the indicator has. */
  weight: number;
}

function buildComparison(
  settings: FamilyIndicator,
  design: FamilyDesign,
  corrected: CorrectedMeasurement,
): Comparison {
  const { group, measurement, p_value, weight } = corrected;
  const { measure, complete, effect, interval, scale } = measurement;
  const valued = selectValued(complete);
  const { verdict, reasons } = decideComparison(settings, design, corrected);
  const totals = estimateTotals(valued, design.resampler);
  const isBlocked = design.listIndicatorBlockers(settings.indicator, group).length > 0;
  const hints = hintPlan(measurement, { verdict, weight, isBlocked });
  const zeros = warnOfZeros(settings, measure, measurement.inputs);
  const interim = measurement.pending > 0 || (group.progress ?? design.progress) !== 'complete';
  return {
    indicator: settings.indicator,
    value_type: settings.value_type,
    role: settings.role,
    objective: settings.direction,
    verdict,
    interim,
    reasons: [
      ...reasons,
      ...explainScope(measurement, { verdict, unit: design.unit, total: totals.ratio }),
      ...(interim ? [] : explainRepetition(hints, measurement, design.unit)),
    ],
    warnings: [
      ...warnOfOppositeTotal(measurement, totals.ratio, { verdict, unit: design.unit }),
      ...(zeros.length > 0 ? zeros : warnOfMissingRatios(settings, measure)),
      ...warnOfFailureValue(settings, measurement),
      ...warnOfLossBound(measurement),
      // The margin has no part in a verdict with a direction.
      ...(measure === 'relative' || hasDirection(verdict)
        ? []
        : warnOfSmallControl(settings.margin, readControls(valued), 'margin')),
      ...listWarnings(measurement, settings.indicator, { ...group, unit: design.unit }),
    ],
    measure,
    geometric_mean_ratio: measure === 'relative' ? convertEstimate(effect, interval, Math.exp) : null,
    mean_difference:
      measure === 'absolute'
        ? convertEstimate(effect, interval, (value) => value / scale.factor)
        : totals.mean_difference,
    ratio: totals.ratio,
    with_failures:
      settings.failure_value === null
        ? null
        : estimateWithFailures(measurement.inputs, settings.failure_value, design.resampler),
    ...hints,
    inputs: tallyUnits(measurement.units, complete, measurement.orientation),
    pairs: tallyPairs(measurement),
    control: describeSide(group.control, settings.indicator, valued, 'control'),
    candidate: describeSide(group.candidate, settings.indicator, valued, 'candidate'),
    sign_flips: { ...measurement.flips, p_value_holm: p_value },
    wilcoxon: formatWilcoxon(measurement, corrected.ranks_p_value),
    failures: measurement.failures,
    losses: measurement.losses,
    dependence: formatDependence(measurement),
    related_inputs: formatRelation(measurement),
    sequential: describeInterim(measurement, design, computeInterimThreshold(weight)),
    tolerance: settings.margin,
    tie_tolerance: settings.tie_tolerance,
    bootstrap: {
      seed: design.resampler.seed,
      resamples: design.resampler.resamples,
      confidence: 0.95,
      method: 'studentized',
    },
  };
}

function formatDependence(measurement: PairedMeasurement): Comparison['dependence'] {
  const { serial_correlation, effective_sample_size, clusterings } = measurement.dependence;
  return {
    serial_correlation,
    slow_change: formatSlowChange(measurement),
    effective_sample_size,
    clusterings: clusterings.map(({ labels: _labels, ...clustering }) => clustering),
  };
}

/** Formats the slow change on the scale of the effect: a share for the relative measure, else a difference. */
function formatSlowChange({ dependence, measure, scale }: PairedMeasurement): SlowChange | null {
  if (dependence.slow_change === null) return null;
  const { p_value, deviation } = dependence.slow_change;
  const readable = measure === 'relative' ? Math.expm1(deviation) : deviation / scale.factor;
  return { p_value, deviation: clampToFinite(readable) };
}

/** Decides the verdict. */
function decideComparison(
  settings: FamilyIndicator,
  { unit, progress, listIndicatorBlockers, resampler }: FamilyDesign,
  { group, measurement, p_value, weight }: CorrectedMeasurement,
): DecidedVerdict {
  const { complete, orientation, test } = measurement;
  const decided = decideVerdict({
    unit,
    direction: settings.direction,
    usable: complete.filter(isInformative).length,
    valued: selectValued(complete).length,
    pending: measurement.pending,
    progress: group.progress ?? progress,
    effect: orient(measurement.effect, orientation),
    interval: orientInterval(measurement.interval, orientation),
    test: {
      name: 'the test of sign flips',
      p_value,
      sign: test.w_plus - test.w_minus,
      needs: `at least ${DIFFERING_UNITS_MIN} ${unit}s that differ, and ${formatCount(test.n, unit)} ${test.n === 1 ? 'does' : 'do'}`,
    },
    final_alpha: measurement.final_alpha,
    failures: describeFailures(measurement.failures, unit),
    failure_margin: settings.failure_margin,
    hidden_effect: measurement.hidden_effect,
    ties: describeTies(measurement, settings.largest_loss),
    margin: measurement.margin,
    margin_text: formatMargin(settings.margin, measurement.measure === 'relative' ? settings.shift : 0),
    interim: measurement.interim,
    interim_threshold: computeInterimThreshold(weight),
    blockers: [...listIndicatorBlockers(settings.indicator, group), ...listBlockers(measurement, unit)],
  });
  if (!hasDirection(decided.verdict) || !isMeanChangeOpen(measurement, resampler)) return decided;
  const objection = `The mean of the relative changes is not shown to differ from 0: a few ${unit}s change much more than the typical one.`;
  return { verdict: 'undecided', reasons: [objection, ...decided.reasons] };
}

function computeInterimThreshold(weight: number): number {
  return 1 / (INTERIM_ALPHA * weight);
}

function selectValued(complete: readonly PairedUnit[]): PairedUnit[] {
  return complete.filter(({ effect }) => effect !== null);
}

function readControls(valued: readonly PairedUnit[]): number[] {
  return valued.map(({ control }) => control ?? 0);
}

/** Formats the test for readers: plus and minus are the signs of candidate minus control. */
function formatWilcoxon(
  { test, orientation }: PairedMeasurement,
  adjusted: number | null,
): Comparison['wilcoxon'] {
  return {
    n: test.n,
    w_plus: orientation > 0 ? test.w_plus : test.w_minus,
    w_minus: orientation > 0 ? test.w_minus : test.w_plus,
    p_value: test.p_value,
    p_value_holm: adjusted,
    method: test.method,
    score: test.score * orientation,
  };
}

function describeFailures(failures: FailureComparison, unit: string): FailureEvidence {
  const { candidate_only, control_only, candidate_failed, control_failed, p_value, excess_upper } = failures;
  return {
    excess_units: candidate_only - control_only,
    excess_failures: candidate_failed - control_failed,
    p_value,
    excess_upper,
    text: `The candidate failed in ${formatCount(candidate_only, unit)} that the control solved, the control in ${control_only} that the candidate solved (${candidate_failed} and ${control_failed} failed runs).`,
  };
}

function orient(value: number | null, orientation: 1 | -1): number | null {
  return value === null ? null : value * orientation;
}

function describeInterim(
  { interim, interim_effects, measure, orientation, scale }: PairedMeasurement,
  design: FamilyDesign,
  threshold: number,
): Comparison['sequential'] {
  if (interim === null) return null;
  const found = computeConfidenceSequence(interim_effects, design, threshold);
  const convert = (value: number) => (measure === 'relative' ? Math.exp(value) : value / scale.factor);
  const ends = found === null ? null : orientInterval(found, orientation);
  return {
    e_value: clampToFinite(interim.e_value),
    e_value_max: clampToFinite(interim.e_value_max),
    mean_e_value_max: clampToFinite(interim.mean_e_value_max),
    largest_loss: interim.largest_loss,
    threshold,
    interval:
      ends === null
        ? null
        : { low: clampToFinite(convert(ends.low)), high: clampToFinite(convert(ends.high)) },
  };
}

/** Formats the margin for sentences: "1 % of the control". Ratios of shifted values have a margin of shifted values. */
export function formatMargin({ type, value }: Margin, shift = 0): string {
  if (type === 'absolute') return `${value}`;
  return `${formatExactPercent(value)} of ${shift > 0 ? `(the control + ${shift})` : 'the control'}`;
}
