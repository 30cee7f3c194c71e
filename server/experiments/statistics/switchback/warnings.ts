/** Warnings of the comparison of a switchback test, and reasons that exclude a verdict, in sentences. */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { formatEvidence, formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import { CARRY_OVER_ALPHA } from '../error-rates.ts';
import { warnOfMissingRatios, warnOfSmallControl } from '../paired/effect-scale.ts';
import type { FamilyIndicator } from '../paired/family.ts';
import { hasDirection, type Verdict } from '../paired/verdict.ts';
import type { describePlanSide, MeasuredPlan, SwitchbackMeasurement } from './compare.ts';
import type { SwitchbackDesign } from './design.ts';
import type { PlanUnit } from './unit-outcomes.ts';

/** The units that have ended, and the design. */
interface EndedPlan {
  plan: readonly PlanUnit[];
  design: SwitchbackDesign;
}

/** One side of a switchback test. */
export interface SwitchbackSide {
  instance_id: string;
  /** Units of the plan that have ended, those with an outcome, and those of them that count. */
  units: { total: number; usable: number; counted: number };
  runs: ReturnType<typeof describePlanSide>['runs'];
  missing: number;
  /** Mean of the outcomes of its counted units. */
  mean: number | null;
  /** The mean that the estimate compares; null without an estimate. */
  estimated_mean: number | null;
}

const SAMPLE_RATIO_ALPHA = 0.001;
const REFUSED_SHARE_MAX = 0.01;

/** Returns the reasons that exclude any verdict. */
export function listBlockers(
  family: EndedPlan,
  measurement: SwitchbackMeasurement & { plan: MeasuredPlan },
): string[] {
  const { refusedShare, sampleRatioPValue } = measurement.plan;
  const carryOver = measurement.estimate?.carry_over_p_value ?? null;
  const blockers: string[] = [];
  const deleted = describeDeletedRuns(family.plan);
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
      `The influence of a unit seems to last longer than carry_over_units = ${family.design.carryOverUnits} (p = ${formatEvidence(carryOver)}): create a test with a larger value.`,
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

/** Warns of a scale that differs from the one asked for, and of a margin that is a share of a mean near 0. */
export function warnOfScale(
  settings: FamilyIndicator,
  { measure, units }: SwitchbackMeasurement,
  verdict: Verdict,
): string[] {
  const controls = units
    .filter(({ counted, isCandidate }) => counted && !isCandidate)
    .map(({ mean }) => mean);
  return [
    ...warnOfMissingRatios(settings, measure),
    // The margin has no part in a verdict with a direction.
    ...(measure === 'relative' || hasDirection(verdict)
      ? []
      : warnOfSmallControl(settings.margin, controls, 'margin')),
  ];
}

/** Says on which assumption a verdict rests: units further after a switch count. The warnings say so for 0 units. */
export function explainAssumption({ design }: EndedPlan, verdict: Verdict): string[] {
  const { carryOverUnits } = design;
  if (verdict === 'undecided' || carryOverUnits === 0) return [];
  return [
    `It assumes that a unit influences at most ${formatCount(carryOverUnits, 'later unit')} (carry_over_units).`,
  ];
}

/** Lists the warnings on units and runs of both sides. */
export function listWarnings(
  family: EndedPlan,
  measurement: SwitchbackMeasurement,
  sides: { control: SwitchbackSide; candidate: SwitchbackSide & { refused: number } },
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
    if (missing > 0)
      warnings.push(
        `${formatCount(missing, 'run')} of the ${name} succeeded without a number of the indicator; such runs are compared by themselves.`,
      );
    if (runs.pending > 0)
      warnings.push(
        `${formatCount(runs.pending, 'run')} of the ${name} ${runs.pending === 1 ? 'has' : 'have'} not ended.`,
      );
  }
  if (sides.candidate.refused > 0)
    warnings.push(
      `The candidate refused ${formatCount(sides.candidate.refused, 'run')} of its units; the baseline served them, and they count for the candidate.`,
    );
  if (family.design.carryOverUnits === 0)
    warnings.push(
      'The verdict assumes that a unit has no influence on the next one (carry_over_units is 0).' +
        ((measurement.estimate?.carry_over_p_value ?? null) === null
          ? ' There are too few units to test it.'
          : ''),
    );
  return warnings;
}
