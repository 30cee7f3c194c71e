/** The strategy of time slots: what a comparison of the units of a plan says beside that of the pipeline. */

import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { formatEvidence, formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import { createEffectReader, warnOfMissingRatios } from '../comparison/effect-scale.ts';
import {
  type ComparedIndicator,
  compareTests,
  type Decided,
  type FamilyIndicator,
  type FamilyTest,
  type UnitStrategy,
  warnOfMargin,
  warnOfRuns,
} from '../comparison/pipeline.ts';
import type { FailureEvidence, Progress, TieEvidence, Verdict } from '../comparison/verdict.ts';
import { computeClopperPearson } from '../distributions.ts';
import { CARRY_OVER_ALPHA, OTHERS_CONFIDENCE, VERDICT_UNITS_MIN } from '../error-rates.ts';
import { clampToFinite } from '../numbers.ts';
import { countRuns } from '../observations.ts';
import {
  type LostRuns,
  type MeasuredPlan,
  measureIndicators,
  measurePlan,
  type PlanUnit,
  type SwitchbackMeasurement,
} from './compare.ts';
import type { SwitchbackDesign } from './design.ts';
import type { SwitchbackEstimate } from './estimate.ts';
import { computeEffectSequence } from './interim.ts';
import { countMoreUnits } from './plan-units.ts';

const SAMPLE_RATIO_ALPHA = 0.001;
const REFUSED_SHARE_MAX = 0.01;

/** A switchback test with everything that its analysis needs. */
export interface SwitchbackFamily {
  /** Units that have ended. */
  plan: readonly PlanUnit[];
  design: SwitchbackDesign;
  burnInMinutes: number;
  /** Units that ended before the start of the test; 0 by default. */
  skippedUnits?: number;
  control_instance_id: string;
  candidate_instance_id: string;
  progress: Progress;
  seed: string;
  draws?: number;
}

/** Compares every indicator. */
export function compareSwitchbackFamily(
  family: SwitchbackFamily,
  indicators: readonly FamilyIndicator[],
): SwitchbackComparison[] {
  const tests = indicators.map((indicator) => ({ indicator, progress: family.progress }));
  return compareTests(tests, createSwitchbackStrategy(family));
}

type SwitchbackFields = Omit<SwitchbackComparison, keyof ComparedIndicator>;

function createSwitchbackStrategy(
  family: SwitchbackFamily,
): UnitStrategy<FamilyTest, SwitchbackMeasurement, SwitchbackFields> {
  const { design } = family;
  const plan = measurePlan(family.plan, family);
  return {
    unit: 'unit',
    // The adjustment for a trend can turn the difference of a few units around, so the estimate of too few says nothing.
    estimateMin: VERDICT_UNITS_MIN,
    measure: (tests) =>
      measureIndicators(
        plan,
        tests.map(({ indicator }) => indicator),
        family.burnInMinutes,
      ),
    describeEvidence: ({ estimate, effect, orientation, losses }) => {
      const counted = countCounted(estimate);
      return {
        usable: counted,
        valued: counted,
        ended: family.plan.length,
        pending: design.units - family.plan.length,
        test: { name: 'the randomisation test', sign: (effect ?? 0) * orientation },
        ...(estimate === null ? {} : { ties: describeTiedUnits(estimate) }),
        failures: describeLosses(losses, plan.failures),
        blockers: listBlockers(plan, estimate),
      };
    },
    computeSequence: ({ ended }, threshold) => computeEffectSequence(design, ended, threshold),
    findObjection: () => null,
    describe: (measurement, test, decided) =>
      describeComparison(family, plan, { measurement, settings: test.indicator, decided }),
  };
}

function describeComparison(
  family: SwitchbackFamily,
  plan: MeasuredPlan,
  {
    measurement,
    settings,
    decided,
  }: { measurement: SwitchbackMeasurement; settings: FamilyIndicator; decided: Decided },
): { reasons: string[]; warnings: string[]; fields: SwitchbackFields } {
  const { verdict, evidence, weight } = decided;
  const { estimate, margin, scale } = measurement;
  const controls = measurement.units.flatMap(({ counted, isCandidate, mean }) =>
    counted && !isCandidate ? [mean] : [],
  );
  const isEstimated = evidence.usable >= VERDICT_UNITS_MIN;
  const sides = describeSides(family, measurement, isEstimated ? estimateMeans(measurement) : null);
  const { failures, reference, coins, sampleRatioPValue } = plan;
  const { kind, carryOverUnits } = family.design;
  const ended = family.plan.length;
  return {
    reasons: explainAssumption(family, verdict),
    warnings: [
      ...warnOfMissingRatios(settings, scale.measure),
      ...warnOfMargin(settings, scale, decided, controls),
      ...listWarnings(family, estimate?.carry_over_p_value ?? null, sides),
    ],
    fields: {
      tolerance: settings.margin,
      // More units repair neither refused or deleted runs nor carry-over beyond the design.
      more_units:
        verdict === 'undecided' && evidence.blockers.length === 0
          ? countMoreUnits(family.design, { estimate, margin, ended, weight })
          : null,
      ...sides,
      units: measurement.units.map(({ index, isCandidate, runs, mean, counted }) => ({
        ...{ index, runs, mean, counted },
        instance_id: isCandidate ? family.candidate_instance_id : family.control_instance_id,
      })),
      randomization: {
        p_value: estimate?.p_value ?? null,
        p_value_holm: evidence.test.p_value,
        method: reference.method,
        assignments: reference.plans.count,
        coins,
        seed: family.seed,
      },
      design: { type: kind, carry_over_units: carryOverUnits, burn_in_minutes: family.burnInMinutes },
      adjusted_for: [...(estimate?.covariates ?? [])],
      carry_over_test: { p_value: estimate?.carry_over_p_value ?? null },
      sample_ratio_test: { p_value: sampleRatioPValue },
      failures: { control: failures.control, candidate: failures.candidate, p_value: failures.p_value },
      sequential: decided.sequential,
    },
  };
}

function countCounted(estimate: SwitchbackEstimate | null): number {
  return (estimate?.control_units ?? 0) + (estimate?.candidate_units ?? 0);
}

/**
 * Returns how many counted units tie or differ. Each side is seen in its own units only, so the fewer units of a side bound the
 * share of others.
 */
function describeTiedUnits({ differing, control_units, candidate_units }: SwitchbackEstimate): TieEvidence {
  return {
    differing,
    independent: Math.min(control_units, candidate_units),
    upper: computeClopperPearson(differing, control_units + candidate_units, OTHERS_CONFIDENCE).high,
    largest_loss: null,
  };
}

/** Describes the lost runs of an indicator, which are the failed ones where no other run lacks a number. */
function describeLosses(losses: LostRuns, failures: LostRuns): FailureEvidence {
  const { control, candidate, p_value, excess_upper } = losses;
  const verb = losses === failures ? 'failed' : 'ended without a value';
  return {
    excess_units: 0,
    excess_failures: candidate - control,
    p_value,
    excess_upper,
    text: `${formatPercent(candidate)} of the runs in the candidate's units ${verb}, and ${formatPercent(control)} of those in the control's.`,
  };
}

/** The means of both sides between which the difference is the estimate. */
interface EstimatedMeans {
  control: number;
  candidate: number;
}

/**
 * Returns the means at the average of the covariates, on the scale that people read (least-squares means). The raw means of
 * the counted units contain what the estimate is adjusted for; a ratio has geometric means.
 */
function estimateMeans({ estimate, units, scale }: SwitchbackMeasurement): EstimatedMeans | null {
  const counted = units.filter((unit) => unit.counted);
  if (estimate === null || counted.length === 0) return null;
  const average = counted.reduce((sum, { value }) => sum + value / counted.length, 0);
  const share = counted.filter(({ isCandidate }) => isCandidate).length / counted.length;
  const control = average - share * estimate.effect;
  const read = createEffectReader(scale);
  const shift = scale.measure === 'relative' ? scale.shift : 0;
  const convert = (value: number) => clampToFinite(read(value) - shift);
  return { control: convert(control), candidate: convert(control + estimate.effect) };
}

function describeSides(
  family: SwitchbackFamily,
  { units, missing }: SwitchbackMeasurement,
  estimated: EstimatedMeans | null,
): { control: SwitchbackComparison['control']; candidate: SwitchbackComparison['candidate'] } {
  const describe = (isCandidate: boolean, instance_id: string) => {
    const planned = family.plan.filter((unit) => unit.isCandidate === isCandidate);
    const runs = planned.flatMap((unit) => unit.runs);
    const own = units.filter((unit) => unit.isCandidate === isCandidate);
    const counted = own.filter((unit) => unit.counted);
    const mean =
      counted.length === 0
        ? null
        : clampToFinite(counted.reduce((sum, unit) => sum + unit.mean / counted.length, 0));
    return {
      instance_id,
      units: { total: planned.length, usable: own.length, counted: counted.length },
      runs: countRuns(runs),
      missing: missing[isCandidate ? 'candidate' : 'control'],
      mean,
      estimated_mean: estimated?.[isCandidate ? 'candidate' : 'control'] ?? null,
      refused: runs.filter(({ candidate_refused }) => candidate_refused === true).length,
    };
  };
  const { refused: _none, ...control } = describe(false, family.control_instance_id);
  return { control, candidate: describe(true, family.candidate_instance_id) };
}

/** Returns the reasons that exclude any verdict. */
function listBlockers(
  { plan, design, refusedShare, sampleRatioPValue }: MeasuredPlan,
  estimate: SwitchbackEstimate | null,
): string[] {
  const carryOver = estimate?.carry_over_p_value ?? null;
  const blockers: string[] = [];
  const deleted = describeDeletedRuns(plan);
  if (deleted !== null) blockers.push(`${deleted}: these are not a random choice, so there is no verdict.`);
  if (refusedShare > REFUSED_SHARE_MAX)
    blockers.push(
      `The candidate refused ${formatPercent(refusedShare)} of the runs in its units, and the baseline served them: above ${formatPercent(REFUSED_SHARE_MAX)} the units do not show what the candidate does.`,
    );
  if (sampleRatioPValue !== null && sampleRatioPValue < SAMPLE_RATIO_ALPHA)
    blockers.push(
      `The numbers of runs differ between the sides more than chance explains (p = ${formatEvidence(sampleRatioPValue)}): something else than the plan decides which runs arrive.`,
    );
  if (carryOver !== null && carryOver < CARRY_OVER_ALPHA)
    blockers.push(
      `The influence of a unit seems to last longer than carry_over_units = ${design.carryOverUnits} (p = ${formatEvidence(carryOver)}): create a test with a larger value.`,
    );
  return blockers;
}

/** Returns the number of deleted runs in words; null for none. Deleting a few bad runs of a side is enough to win, so any counts. */
function describeDeletedRuns(plan: readonly PlanUnit[]): string | null {
  const count = (units: readonly PlanUnit[]) => units.reduce((total, { deleted = 0 }) => total + deleted, 0);
  const deleted = count(plan);
  if (deleted === 0) return null;
  const total = plan.reduce((sum, { runs }) => sum + runs.length, deleted);
  const ofCandidate = count(plan.filter(({ isCandidate }) => isCandidate));
  return `${deleted} of ${formatCount(total, 'run')} ${deleted === 1 ? 'was' : 'were'} deleted, ${ofCandidate} of them in the candidate's units`;
}

/** Says on which assumption a verdict rests: units further after a switch count. The warnings say so for 0 units. */
function explainAssumption(
  { design }: Pick<SwitchbackFamily, 'plan' | 'design'>,
  verdict: Verdict,
): string[] {
  const { carryOverUnits } = design;
  if (verdict === 'undecided' || carryOverUnits === 0) return [];
  return [
    `It assumes that a unit influences at most ${formatCount(carryOverUnits, 'later unit')} (carry_over_units).`,
  ];
}

/** Lists the warnings on units and runs of both sides. */
function listWarnings(
  family: Pick<SwitchbackFamily, 'plan' | 'design'>,
  carryOverPValue: number | null,
  sides: { control: SwitchbackComparison['control']; candidate: SwitchbackComparison['candidate'] },
): string[] {
  const warnings: string[] = [];
  const deleted = describeDeletedRuns(family.plan);
  if (deleted !== null) warnings.push(`${deleted}.`);
  for (const [name, { units, runs, missing }] of Object.entries(sides)) {
    if (units.total === 0)
      warnings.push(
        family.plan.length < family.design.units
          ? `No unit of the ${name} has ended.`
          : `The plan gives the ${name} no unit.`,
      );
    else if (units.usable < units.total)
      warnings.push(
        `${formatCount(units.total - units.usable, 'unit')} of ${units.total} of the ${name} have no usable value and are left out.`,
      );
    if (runs.failed + runs.canceled > 0)
      warnings.push(
        `${runs.failed} failed and ${runs.canceled} canceled of ${formatCount(runs.total, 'run')} of the ${name} have no value; such runs are compared by themselves.`,
      );
    const without = 'succeeded without a number of the indicator; such runs are compared by themselves';
    warnings.push(...warnOfRuns(missing, name, without, without));
    warnings.push(...warnOfRuns(runs.pending, name, 'has not ended', 'have not ended'));
  }
  if (sides.candidate.refused > 0)
    warnings.push(
      `The candidate refused ${formatCount(sides.candidate.refused, 'run')} of its units; the baseline served them, and they count for the candidate.`,
    );
  if (family.design.carryOverUnits === 0)
    warnings.push(
      'The verdict assumes that a unit has no influence on the next one (carry_over_units is 0).' +
        (carryOverPValue === null ? ' There are too few units to test it.' : ''),
    );
  return warnings;
}
