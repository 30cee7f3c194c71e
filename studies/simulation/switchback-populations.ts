/** Simulated switchback tests whose truth is known: outcomes of units over time, with carry-over, refusals and failures. */

import type {
  PlanUnit,
  SwitchbackRun,
} from '@switchyard/server/experiments/statistics/switchback/compare.ts';
import type { SwitchbackDesign } from '@switchyard/server/experiments/statistics/switchback/design.ts';
import { drawPlan } from '@switchyard/server/experiments/statistics/switchback/plan-units.ts';
import type { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import { INDICATOR } from './paired-populations.ts';

/** Rules by which one simulated test is drawn. Outcomes lie about 100 with a noise of 5 for each unit. */
export interface SwitchbackPopulation {
  /** Immediate effect of the candidate on a unit. */
  effect?: number;
  /** Effects of the candidate on the units after its own, nearest first. */
  carryOver?: number[];
  noise?: 'normal' | 'lognormal' | 'heavy' | 'ties';
  /** Correlation of the noise of neighbouring units. */
  correlation?: number;
  /** Rise over the whole plan, rhythm of the day and standard deviation of days, as shares of 100. */
  trend?: number;
  dayCycle?: number;
  dayDeviation?: number;
  /** Difference of the two days of the weekend from the others, as a share of 100. */
  weekCycle?: number;
  /** Drafts from which someone who knows the day cycle selects the plan that favours the candidate most. */
  drafts?: number;
  /** The candidate's noise is so many times as large. */
  candidateSpread?: number;
  /** Draws an additional effect of the candidate for each of its units. */
  drawEffect?: (generator: RandomGenerator) => number;
  /** Runs in each unit; 1 by default. */
  runs?: number;
  /** Runs arrive by the hour: up to so many in a unit at noon, 1 in a unit at midnight. */
  busiestRuns?: number;
  /** Share of runs, the hardest ones, that the candidate refuses, so that the baseline serves them. */
  refusedShare?: number;
  /** Share of runs, the hardest ones, that fail on the candidate. */
  failedShare?: number;
  /** Share of runs, the hardest ones, that succeed on the candidate without a number. */
  silentShare?: number;
}

const DAY_MINUTES = 24 * 60;
const LEVEL = 100;
const WORKING_DAYS = 5;
/** Plans begin on a Friday. */
const FIRST_DAY = 4;
const UNIT_DEVIATION = 5;

/** Draws the plan and the runs of one test. */
export function drawSwitchbackTest(
  population: SwitchbackPopulation,
  design: SwitchbackDesign,
  generator: RandomGenerator,
): PlanUnit[] {
  const assignment = drawAssignment(population, design, generator);
  const days = Array.from(
    { length: Math.ceil((design.units * design.unitMinutes) / DAY_MINUTES) },
    () => (population.dayDeviation ?? 0) * generator.normal(),
  );
  const { correlation = 0 } = population;
  let state = generator.normal();
  return Array.from(assignment, (side, index) => {
    state = correlation * state + Math.sqrt(1 - correlation ** 2) * generator.normal();
    const minutes = index * design.unitMinutes;
    const day = Math.floor(minutes / DAY_MINUTES);
    const level =
      LEVEL *
      (1 +
        (population.dayCycle ?? 0) * computeDayCycle(minutes) +
        ((population.trend ?? 0) * index) / design.units +
        ((FIRST_DAY + day) % 7 >= WORKING_DAYS ? (population.weekCycle ?? 0) : 0) +
        (days[day] ?? 0));
    const noise = drawUnitNoise(population, side === 1, state, generator);
    const outcome = level + computeEffect(population, assignment, index, generator) + noise;
    const runs = countArrivals(population, minutes, generator);
    return {
      index,
      isCandidate: side === 1,
      runs: drawRuns({ ...population, runs }, side === 1, outcome, generator),
    };
  });
}

/** Returns the plan of the test. With several drafts it is the one whose candidate has the lowest hours of the day. */
function drawAssignment(
  { drafts = 1 }: SwitchbackPopulation,
  design: SwitchbackDesign,
  generator: RandomGenerator,
): Uint8Array {
  const plans = Array.from({ length: drafts }, () => {
    const assignment = drawPlan(design, `${generator.bits()}`);
    const signed = Array.from(
      assignment,
      (side, index) => (side === 1 ? 1 : -1) * computeDayCycle(index * design.unitMinutes),
    );
    return { assignment, advantage: signed.reduce((total, value) => total - value, 0) };
  });
  return plans.reduce((best, plan) => (plan.advantage > best.advantage ? plan : best)).assignment;
}

function computeDayCycle(minutes: number): number {
  return Math.sin((2 * Math.PI * minutes) / DAY_MINUTES);
}

function computeEffect(
  { effect = 0, carryOver = [], drawEffect }: SwitchbackPopulation,
  assignment: Uint8Array,
  index: number,
  generator: RandomGenerator,
): number {
  const own = assignment[index] === 1 ? effect + (drawEffect?.(generator) ?? 0) : 0;
  return carryOver.reduce((total, part, units) => total + part * (assignment[index - 1 - units] ?? 0), own);
}

function drawUnitNoise(
  { noise = 'normal', candidateSpread = 1 }: SwitchbackPopulation,
  isCandidate: boolean,
  state: number,
  generator: RandomGenerator,
): number {
  const spread = UNIT_DEVIATION * (isCandidate ? candidateSpread : 1);
  if (noise === 'lognormal') return spread * 0.5 * (Math.exp(generator.normal()) - Math.exp(0.5));
  if (noise === 'heavy')
    return (spread * 0.6 * generator.normal()) / Math.sqrt(-Math.log(generator.uniform()));
  if (noise === 'ties') return generator.uniform() < 0.75 ? 0 : spread * generator.normal();
  return spread * state;
}

function countArrivals(
  { runs = 1, busiestRuns }: SwitchbackPopulation,
  minutes: number,
  generator: RandomGenerator,
): number {
  if (busiestRuns === undefined) return runs;
  const share = (1 - Math.cos((2 * Math.PI * minutes) / DAY_MINUTES)) / 2;
  return 1 + generator.integerBelow(1 + Math.round((busiestRuns - 1) * share));
}

/** Runs of one unit about its outcome. The hardest runs have the largest values. */
function drawRuns(
  { runs = 1, busiestRuns, refusedShare = 0, failedShare = 0, silentShare = 0 }: SwitchbackPopulation,
  isCandidate: boolean,
  outcome: number,
  generator: RandomGenerator,
): SwitchbackRun[] {
  return Array.from({ length: runs }, (_, repetition) => {
    const hardness = generator.uniform();
    const isEven = runs === 1 && busiestRuns === undefined;
    const value = isEven ? outcome : outcome + 40 * (hardness - 0.5);
    const isRefused = isCandidate && hardness > 1 - refusedShare;
    const fails = isCandidate && !isRefused && hardness > 1 - failedShare;
    const isSilent = fails || (isCandidate && hardness > 1 - silentShare);
    return {
      instance_id: isCandidate && !isRefused ? 'candidate' : 'control',
      version_id: 'v1',
      input_id: `${repetition}`,
      option_set: null,
      scenario_id: null,
      repetition: null,
      status: fails ? 'failed' : 'succeeded',
      indicators: isSilent ? [] : [{ name: INDICATOR, value }],
      candidate_refused: isRefused,
    };
  });
}
