/** Outcomes of the units of a plan: for every indicator the mean over the runs of each unit. */
import { findIndicator } from '../../../runs/results/indicators.ts';
import { clampToFinite, computeScale, mean } from '../numbers.ts';
import { indexIndicators, type Observation, toUsableNumber } from '../observations.ts';

/** A run with what became of it in a switchback test. */
export interface SwitchbackRun extends Observation {
  /** The candidate refused it, so the baseline served it. It still counts for the candidate's unit. */
  candidate_refused?: boolean;
  /** Minutes between the start of its unit and its arrival. */
  minutes_into_unit?: number;
}

/** One unit of the plan with the runs that arrived in it. */
export interface PlanUnit {
  index: number;
  /** True: the plan gave the unit to the candidate. */
  isCandidate: boolean;
  runs: readonly SwitchbackRun[];
  /** Runs of the unit that were deleted; 0 by default. */
  deleted?: number;
}

/** The outcomes of one indicator. */
export interface IndicatorOutcomes {
  /** Units with at least one run that succeeded with a number and arrived after the burn-in. */
  units: { index: number; isCandidate: boolean; runs: number; mean: number }[];
  /** Succeeded runs without a number. */
  missing: { control: number; candidate: number };
  /** Share of the runs of each unit of the plan that ended without a number. */
  lostShares: number[];
}

/** Returns the outcomes of each indicator, in the order of the names. Reads every run once. */
export function readOutcomes(
  plan: readonly PlanUnit[],
  indicators: readonly string[],
  burnInMinutes: number,
): IndicatorOutcomes[] {
  const outcomes = indicators.map(
    (): IndicatorOutcomes => ({ units: [], missing: { control: 0, candidate: 0 }, lostShares: [] }),
  );
  for (const unit of plan) {
    const values = indicators.map((): number[] => []);
    const ended = unit.runs.filter(({ status }) => status === 'failed' || status === 'canceled').length;
    const lost = indicators.map(() => ended);
    for (const run of unit.runs) {
      if (run.status !== 'succeeded') continue;
      const isCounted = (run.minutes_into_unit ?? Number.POSITIVE_INFINITY) >= burnInMinutes;
      const reports = indexIndicators(run);
      indicators.forEach((name, index) => {
        const value = toUsableNumber(findIndicator(reports, name));
        if (value === null) {
          countMissing(outcomes[index], unit);
          lost[index] = (lost[index] ?? 0) + 1;
        } else if (isCounted) values[index]?.push(value);
      });
    }
    outcomes.forEach(({ units, lostShares }, index) => {
      const own = values[index] ?? [];
      lostShares.push((lost[index] ?? 0) / Math.max(1, unit.runs.length));
      if (own.length > 0) units.push({ ...describeUnit(unit), runs: own.length, mean: computeUnitMean(own) });
    });
  }
  return outcomes;
}

function countMissing(outcomes: IndicatorOutcomes | undefined, { isCandidate }: PlanUnit): void {
  if (outcomes) outcomes.missing[isCandidate ? 'candidate' : 'control'] += 1;
}

function describeUnit({ index, isCandidate }: PlanUnit) {
  return { index, isCandidate };
}

/** Returns the mean, added in ascending order, so that it does not depend on the order of the runs. */
function computeUnitMean(values: number[]): number {
  values.sort((a, b) => a - b);
  const { factor, inverse } = computeScale(values);
  return clampToFinite(mean(values.map((value) => value * factor)) * inverse);
}
