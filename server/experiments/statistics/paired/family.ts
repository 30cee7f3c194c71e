/** The strategy of inputs and of originals: what a comparison of paired units says beside that of the pipeline. */

import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import type { Resampler } from '../bootstrap.ts';
import { orientInterval, readSize, warnOfMissingRatios } from '../comparison/effect-scale.ts';
import { computeConfidenceSequence } from '../comparison/interim.ts';
import {
  type ComparedIndicator,
  compareTests,
  type Decided,
  type FamilyIndicator,
  type FamilyTest,
  type UnitStrategy,
  warnOfMargin,
} from '../comparison/pipeline.ts';
import type { FailureEvidence, Progress } from '../comparison/verdict.ts';
import { CHANGE_MAX, clampToFinite } from '../numbers.ts';
import type { Observation } from '../observations.ts';
import { type ComparisonDesign, measureIndicator, type PairedMeasurement } from './compare.ts';
import { isMeanConclusive } from './decisive-interval.ts';
import type { FailureComparison } from './losses.ts';
import { explainRepetition, hintPlan } from './planning-hints.ts';
import { formatRelation } from './relation.ts';
import { DIFFERING_UNITS_MIN } from './signed-rank.ts';
import { describeSide, describeTies, isInformative, tallyPairs, tallyUnits } from './tallies.ts';
import { estimateTotals, estimateWithFailures } from './totals.ts';
import type { PairedUnit } from './units.ts';
import {
  explainScope,
  listBlockers,
  listWarnings,
  warnOfFailureValue,
  warnOfLossBound,
  warnOfOppositeTotal,
  warnOfZeros,
} from './warnings.ts';

/** A candidate with the control it is compared with. */
export interface FamilyGroup {
  control: readonly Observation[];
  candidate: readonly Observation[];
  /** The progress of only this comparison; by default that of the experiment. */
  progress?: Progress;
}

/** How runs become units: by input, or by original in the order of time. */
export interface UnitDesign extends Omit<ComparisonDesign, 'resampler' | 'confidence'> {
  unit: 'input' | 'original';
}

/** The design of an experiment, and the reasons that exclude verdicts on some of its indicators. */
export interface FamilyDesign extends ComparisonDesign, UnitDesign {
  progress: Progress;
  /** Reasons without a verdict for one indicator, such as a time measured under unequal load. */
  listIndicatorBlockers: (indicator: string, group: FamilyGroup) => readonly string[];
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
  const tests = groups.flatMap((group) =>
    indicators.map((indicator) => ({ indicator, group, progress: group.progress ?? design.progress })),
  );
  const comparisons = compareTests(tests, createPairedStrategy(design));
  return groups.map((_group, index) =>
    comparisons.slice(index * indicators.length, (index + 1) * indicators.length),
  );
}

interface PairedTest extends FamilyTest {
  group: FamilyGroup;
}

/** The fields that the pipeline does not know; the difference of the means stands beside a ratio. */
type PairedFields = Omit<Comparison, keyof ComparedIndicator> & Partial<Pick<Comparison, 'mean_difference'>>;

function createPairedStrategy(
  design: FamilyDesign,
): UnitStrategy<PairedTest, PairedMeasurement, PairedFields> {
  const { unit, resampler } = design;
  return {
    unit,
    estimateMin: 0,
    measure: (tests) =>
      tests.map(({ indicator, group }) => measureIndicator(group, indicator.indicator, indicator, design)),
    describeEvidence: (measurement, { indicator, group }) => {
      const { complete, pending, test, failures, hidden_effect } = measurement;
      return {
        usable: complete.filter(isInformative).length,
        valued: selectValued(complete).length,
        pending,
        test: {
          name: 'the test of sign flips',
          sign: test.w_plus - test.w_minus,
          needs: `at least ${DIFFERING_UNITS_MIN} ${unit}s that differ, and ${formatCount(test.n, unit)} ${test.n === 1 ? 'does' : 'do'}`,
        },
        failures: describeFailures(failures, unit),
        hidden_effect,
        ties: describeTies(measurement, indicator.largest_loss),
        blockers: [
          ...design.listIndicatorBlockers(indicator.indicator, group),
          ...listBlockers(measurement, unit),
        ],
      };
    },
    computeSequence: ({ interim_effects, orientation }, threshold) =>
      orientInterval(computeConfidenceSequence(interim_effects, design, threshold), orientation),
    findObjection: (measurement) =>
      isMeanChangeOpen(measurement, resampler)
        ? `The mean of the relative changes is not shown to differ from 0: a few ${unit}s change much more than the typical one.`
        : null,
    describe: (measurement, test, decided) => describeComparison(measurement, test, decided, design),
  };
}

function describeComparison(
  measurement: PairedMeasurement,
  { indicator: settings, group }: PairedTest,
  decided: Decided,
  design: FamilyDesign,
): { reasons: string[]; warnings: string[]; fields: PairedFields } {
  const { verdict, weight, interim } = decided;
  const { measure, complete, inputs, orientation } = measurement;
  const { unit, resampler } = design;
  const valued = selectValued(complete);
  const controls = valued.map(({ control }) => control ?? 0);
  const totals = estimateTotals(valued, resampler);
  const isBlocked = design.listIndicatorBlockers(settings.indicator, group).length > 0;
  const hints = hintPlan(measurement, { verdict, weight, isBlocked });
  const zeros = warnOfZeros(settings, measure, inputs);
  return {
    reasons: [
      ...explainScope(measurement, { verdict, unit, total: totals.ratio }),
      ...(interim ? [] : explainRepetition(hints, measurement, unit)),
    ],
    warnings: [
      ...warnOfOppositeTotal(measurement, totals.ratio, { verdict, unit }),
      ...(zeros.length > 0 ? zeros : warnOfMissingRatios(settings, measure)),
      ...warnOfFailureValue(settings, measurement),
      ...warnOfLossBound(measurement),
      ...warnOfMargin(settings, measurement, decided, controls),
      ...listWarnings(measurement, settings.indicator, { ...group, unit }),
    ],
    fields: {
      ...(measure === 'relative' ? { mean_difference: totals.mean_difference } : {}),
      ratio: totals.ratio,
      with_failures:
        settings.failure_value === null
          ? null
          : estimateWithFailures(inputs, settings.failure_value, resampler),
      ...hints,
      inputs: tallyUnits(measurement.units, complete, orientation),
      pairs: tallyPairs(measurement),
      control: describeSide(group.control, settings.indicator, valued, 'control'),
      candidate: describeSide(group.candidate, settings.indicator, valued, 'candidate'),
      ...formatTests(measurement, decided.p_values),
      failures: measurement.failures,
      losses: measurement.losses,
      dependence: formatDependence(measurement),
      related_inputs: formatRelation(measurement),
      sequential: decided.sequential,
      tolerance: settings.margin,
      tie_tolerance: settings.tie_tolerance,
      bootstrap: {
        seed: resampler.seed,
        resamples: resampler.resamples,
        confidence: 0.95,
        method: 'studentized',
      },
    },
  };
}

function selectValued(complete: readonly PairedUnit[]): PairedUnit[] {
  return complete.filter(({ effect }) => effect !== null);
}

/** Formats the tests for readers: plus and minus are the signs of candidate minus control. */
function formatTests(
  { test, flips, orientation }: PairedMeasurement,
  [adjusted = null, adjustedRanks = null]: readonly (number | null)[],
): Pick<Comparison, 'sign_flips' | 'wilcoxon'> {
  return {
    sign_flips: { ...flips, p_value_holm: adjusted },
    wilcoxon: {
      n: test.n,
      w_plus: orientation > 0 ? test.w_plus : test.w_minus,
      w_minus: orientation > 0 ? test.w_minus : test.w_plus,
      p_value: test.p_value,
      p_value_holm: adjustedRanks,
      method: test.method,
      score: test.score * orientation,
    },
  };
}

/** Formats the dependence of the units; a slow change is on the scale that people read. */
function formatDependence({ dependence, scale }: PairedMeasurement): Comparison['dependence'] {
  const { serial_correlation, slow_change, effective_sample_size, clusterings } = dependence;
  return {
    serial_correlation,
    slow_change: slow_change && {
      p_value: slow_change.p_value,
      deviation: clampToFinite(readSize(slow_change.deviation, scale)),
    },
    effective_sample_size,
    clusterings: clusterings.map(({ labels: _labels, ...clustering }) => clustering),
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

/**
 * Returns true if the typical change differs from 0 and the mean change is not shown to differ in the same direction.
 *
 * The mean log ratio is the change on a typical input. A candidate that is a little better on most inputs and much worse on
 * a few is better on the typical one, and not better on average. Of such candidates whose changes have the mean 0, up to
 * 28 % of 100 inputs were better by only the logarithm.
 */
function isMeanChangeOpen(
  {
    complete,
    effect,
    interval,
    measure,
  }: Pick<PairedMeasurement, 'complete' | 'effect' | 'interval' | 'measure'>,
  resampler: Resampler,
): boolean {
  if (measure === 'absolute' || effect === null || interval === null) return false;
  const sign = interval.low > 0 ? 1 : interval.high < 0 ? -1 : 0;
  const changes = complete.flatMap((unit) => (unit.effect === null ? [] : [Math.expm1(unit.effect)]));
  const bounded = Float64Array.from(changes, (change) => Math.min(change, CHANGE_MAX));
  return sign !== 0 && !isMeanConclusive(bounded, sign, resampler);
}
