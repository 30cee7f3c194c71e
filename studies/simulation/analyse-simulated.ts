/** The verdicts that the product gives on simulated experiments. */

import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { DEFAULT_INDICATOR } from '@switchyard/server/experiments/results/select-indicators.ts';
import { Resampler } from '@switchyard/server/experiments/statistics/bootstrap.ts';
import type { Estimate } from '@switchyard/server/experiments/statistics/comparison/effect-scale.ts';
import type { FamilyIndicator } from '@switchyard/server/experiments/statistics/comparison/pipeline.ts';
import type { Progress, Verdict } from '@switchyard/server/experiments/statistics/comparison/verdict.ts';
import { computeStudentTTail } from '@switchyard/server/experiments/statistics/distributions.ts';
import { mean, standardDeviation } from '@switchyard/server/experiments/statistics/numbers.ts';
import type { Observation } from '@switchyard/server/experiments/statistics/observations.ts';
import { measureIndicator } from '@switchyard/server/experiments/statistics/paired/compare.ts';
import { compareFamily, type FamilyDesign } from '@switchyard/server/experiments/statistics/paired/family.ts';
import type { PlanUnit } from '@switchyard/server/experiments/statistics/switchback/compare.ts';
import type { SwitchbackDesign } from '@switchyard/server/experiments/statistics/switchback/design.ts';
import { compareSwitchbackFamily } from '@switchyard/server/experiments/statistics/switchback/family.ts';
import { testSignedRanks } from '@switchyard/server/experiments/statistics/wilcoxon.ts';
import { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import {
  buildSimulatedRun,
  drawPairedRuns,
  INDICATOR,
  type PairedPopulation,
  type SimulatedRuns,
} from './paired-populations.ts';
import { drawSwitchbackTest, type SwitchbackPopulation } from './switchback-populations.ts';

/** Share of experiments with each verdict. */
export type VerdictShares = Record<Verdict, number>;

/** Settings of the indicator in every simulation, unless a cell says otherwise: less is better, 1 % is equivalent. */
const MINIMIZE: FamilyIndicator = {
  ...DEFAULT_INDICATOR,
  indicator: INDICATOR,
  role: 'primary',
  direction: 'minimize',
};

/** Fewer resamples and draws than the product uses: the level stays the same, a table takes minutes instead of hours. */
const RESAMPLES = 399;
const DRAWS = 799;
const INTERIM_DRAWS = 39;
/** A verdict needs ten units, so that nobody looks earlier. */
const LOOK_UNITS_MIN = 10;

/** A verdict before the end reads no interval, so that its resamples only cost time. */
const INTERIM_RESAMPLES = 39;

/** A batch, a batch on the inputs of a period, or a shadow test with its dependence over time and between callers. */
export type PairedKind = 'batch' | 'period' | 'shadow';

/** Builds the design that the product uses for a kind of experiment. */
function buildPairedDesign(kind: PairedKind, seed: string, resamples = RESAMPLES): FamilyDesign {
  return {
    unit: kind === 'shadow' ? 'original' : 'input',
    serial: kind === 'shadow',
    possibly_serial: kind === 'period',
    clusterings: kind === 'shadow' ? ['caller'] : [],
    seeks_relation: true,
    progress: 'complete',
    listIndicatorBlockers: () => [],
    resampler: new Resampler({ seed, resamples }),
  };
}

/** Returns the comparison of one simulated experiment. */
function comparePaired(
  runs: SimulatedRuns,
  kind: PairedKind,
  seed: string,
  { resamples = RESAMPLES, settings = {} }: { resamples?: number; settings?: Partial<FamilyIndicator> } = {},
) {
  const indicator = { ...MINIMIZE, ...settings };
  const [[comparison] = []] = compareFamily([runs], [indicator], buildPairedDesign(kind, seed, resamples));
  return comparison;
}

function isDecided(verdict: Verdict | undefined): boolean {
  return verdict === 'better' || verdict === 'worse';
}

/** Returns the verdict shares of a paired population over so many experiments, each with its own seed. */
export function simulatePaired(
  population: PairedPopulation,
  {
    inputs,
    repetitions = 1,
    kind = 'batch',
    settings = {},
  }: { inputs: number; repetitions?: number; kind?: PairedKind; settings?: Partial<FamilyIndicator> },
  experiments: number,
): VerdictShares {
  return countVerdicts(experiments, (seed) => {
    const runs = drawPairedRuns(population, { inputs, repetitions }, new RandomGenerator(seed));
    return comparePaired(runs, kind, seed, { settings })?.verdict ?? 'undecided';
  });
}

/** A published test of the mean or the median effect. */
export type ReferenceTest = 'signed-rank' | 'student';

/** Returns the share of experiments in which a published test alone finds the candidate worse at 5 %. */
export function countReferenceRejections(
  population: PairedPopulation,
  { inputs, repetitions, test }: { inputs: number; repetitions: number; test: ReferenceTest },
  experiments: number,
): number {
  const resampler = new Resampler({ seed: 'unused', resamples: 39 });
  return countShare(experiments, (seed) => {
    const runs = drawPairedRuns(population, { inputs, repetitions }, new RandomGenerator(seed));
    const { complete } = measureIndicator(runs, INDICATOR, MINIMIZE, {
      serial: false,
      clusterings: [],
      resampler,
    });
    const effects = Float64Array.from(complete, ({ effect }) => effect ?? 0);
    if (test === 'signed-rank') {
      const { p_value, score } = testSignedRanks(effects, 1);
      return score > 0 && (p_value ?? 1) <= 0.05;
    }
    const t = mean(effects) / (standardDeviation(effects) / Math.sqrt(effects.length));
    return t > 0 && 2 * computeStudentTTail(t, effects.length - 1) <= 0.05;
  });
}

/** Returns the verdict shares of a switchback population. */
export function simulateSwitchback(
  population: SwitchbackPopulation,
  design: SwitchbackDesign,
  experiments: number,
): VerdictShares {
  return countVerdicts(experiments, (seed) => {
    const plan = drawSwitchbackTest(population, design, new RandomGenerator(seed));
    return decideSwitchbackVerdict(plan, design, { seed, progress: 'complete' });
  });
}

/** Returns the verdict on the units of a plan that have ended. */
function decideSwitchbackVerdict(
  plan: readonly PlanUnit[],
  design: SwitchbackDesign,
  { seed, progress, draws = DRAWS }: { seed: string; progress: Progress; draws?: number },
): Verdict {
  const [comparison] = compareSwitchbackFamily(
    {
      plan,
      design,
      burnInMinutes: 0,
      control_instance_id: 'control',
      candidate_instance_id: 'candidate',
      progress,
      seed,
      draws,
    },
    [MINIMIZE],
  );
  return comparison?.verdict ?? 'undecided';
}

/** Returns the share of switchback tests with a wrong verdict after any unit or at the end. */
export function simulateSwitchbackLooks(
  population: SwitchbackPopulation,
  design: SwitchbackDesign,
  experiments: number,
): number {
  return countShare(experiments, (seed) => {
    const plan = drawSwitchbackTest(population, design, new RandomGenerator(seed));
    for (let ended = LOOK_UNITS_MIN; ended < design.units; ended += 1) {
      const look = { seed, progress: 'running', draws: INTERIM_DRAWS } as const;
      if (isDecided(decideSwitchbackVerdict(plan.slice(0, ended), design, look))) return true;
    }
    return isDecided(decideSwitchbackVerdict(plan, design, { seed, progress: 'complete' }));
  });
}

/** Returns the shares of the verdicts over so many experiments. */
function countVerdicts(experiments: number, readVerdict: (seed: string) => Verdict): VerdictShares {
  const shares: VerdictShares = {
    better: 0,
    worse: 0,
    higher: 0,
    lower: 0,
    equivalent: 0,
    same: 0,
    undecided: 0,
  };
  for (let experiment = 0; experiment < experiments; experiment += 1)
    shares[readVerdict(`experiment ${experiment}`)] += 1 / experiments;
  return shares;
}

/** Returns the share of experiments, each with its own seed, for which the condition holds. */
function countShare(experiments: number, holds: (seed: string) => boolean): number {
  let count = 0;
  for (let experiment = 0; experiment < experiments; experiment += 1)
    if (holds(`experiment ${experiment}`)) count += 1;
  return count / experiments;
}

/** Many indicators or candidates of one experiment. */
export interface SimulatedFamily {
  candidates: number;
  indicators: number;
  inputs: number;
  /** Correlation of the noise of two indicators; 0 by default. */
  correlation?: number;
}

/** Returns the share of experiments with at least one wrong verdict when equal candidates report these indicators. */
export function simulateFamily(family: SimulatedFamily, experiments: number): number {
  const names = Array.from({ length: family.indicators }, (_, index) => `${INDICATOR}.${index}`);
  const settings = names.map((indicator) => ({ ...MINIMIZE, indicator }));
  return countShare(experiments, (seed) => {
    const groups = drawFamily(family, names, new RandomGenerator(`family ${seed}`));
    return compareFamily(groups, settings, buildPairedDesign('batch', seed))
      .flat()
      .some(({ verdict }) => isDecided(verdict));
  });
}

/** Draws the runs of every candidate, all compared with the same runs of the control. */
function drawFamily(
  { candidates, inputs, correlation = 0 }: SimulatedFamily,
  names: readonly string[],
  generator: RandomGenerator,
): SimulatedRuns[] {
  const sizes = Array.from({ length: inputs }, () => 100 * Math.exp(0.5 * generator.normal()));
  const drawSide = (instance_id: string): Observation[] =>
    sizes.map((size, index) => {
      const shared = generator.normal();
      const drawNoise = () =>
        0.05 * (Math.sqrt(correlation) * shared + Math.sqrt(1 - correlation) * generator.normal());
      return buildSimulatedRun(
        instance_id,
        names.map((name) => ({ name, value: size * Math.max(0.001, 1 + drawNoise()) })),
        { input_id: `input-${index}`, repetition: 0, position: index },
      );
    });
  const control = drawSide('control');
  return Array.from({ length: candidates }, (_, index) => ({
    control,
    candidate: drawSide(`candidate-${index}`),
  }));
}

/** Looks at the result of an experiment while it runs. */
export interface Looks {
  inputs: number;
  /** Inputs between two looks. */
  step: number;
  kind: PairedKind;
  /** The verdicts that are wrong; `better` and `worse` by default. */
  wrong?: readonly Verdict[];
  /** false: the verdict at the end does not count; true by default. */
  countsEnd?: boolean;
}

/** Share of experiments with a wrong verdict at any look, when someone reads the result after every `step` inputs. */
export function simulateLooks(
  population: PairedPopulation,
  { inputs, step, kind, wrong = ['better', 'worse'], countsEnd = true }: Looks,
  experiments: number,
): number {
  const isWrong = (verdict: Verdict | undefined) => verdict !== undefined && wrong.includes(verdict);
  return countShare(experiments, (seed) => {
    const runs = drawPairedRuns(population, { inputs, repetitions: 1 }, new RandomGenerator(seed));
    for (let ended = LOOK_UNITS_MIN; ended < inputs; ended += step) {
      const hide = (run: Observation) =>
        (run.position ?? 0) < ended ? run : { ...run, status: 'running', indicators: [] };
      const seen = { control: runs.control.map(hide), candidate: runs.candidate.map(hide) };
      if (isWrong(comparePaired(seen, kind, seed, { resamples: INTERIM_RESAMPLES })?.verdict)) return true;
    }
    return countsEnd && isWrong(comparePaired(runs, kind, seed)?.verdict);
  });
}

/** Rounds of an experiment that is repeated with as many more inputs as the result before asked for. */
const ROUNDS_MAX = 5;
const ROUND_INPUTS_MAX = 400;

/** Share of plans with a wrong verdict in any round, when every undecided experiment is repeated with `more_inputs` more inputs. */
export function simulateRepeatedExperiments(
  population: PairedPopulation,
  inputs: number,
  experiments: number,
): number {
  return countShare(experiments, (seed) => {
    let size = inputs;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      // The same seed draws the same inputs first, so that a round contains the one before.
      const runs = drawPairedRuns(population, { inputs: size, repetitions: 1 }, new RandomGenerator(seed));
      const found = comparePaired(runs, 'batch', seed);
      if (isDecided(found?.verdict)) return true;
      if (found?.verdict !== 'undecided') return false;
      size = Math.min(ROUND_INPUTS_MAX, size + (found.more_inputs ?? ROUND_INPUTS_MAX));
    }
    return false;
  });
}

/** Returns the share of experiments whose comparison has the property. */
export function countComparisons(
  population: PairedPopulation,
  inputs: number,
  holds: (comparison: Comparison | undefined) => boolean,
  experiments: number,
): number {
  return countShare(experiments, (seed) => {
    const runs = drawPairedRuns(population, { inputs, repetitions: 1 }, new RandomGenerator(seed));
    return holds(comparePaired(runs, 'batch', seed));
  });
}

/** Returns the share of experiments whose 95 % interval does not contain the true value. */
export function simulateMissedTruth(
  population: PairedPopulation,
  {
    inputs,
    read,
    truth,
  }: { inputs: number; read: (comparison: Comparison) => Estimate | null; truth: number },
  experiments: number,
): number {
  const isMissed = (comparison: Comparison | undefined) => {
    const interval = comparison ? read(comparison)?.interval : null;
    return !interval || interval.low > truth || interval.high < truth;
  };
  return countComparisons(population, inputs, isMissed, experiments);
}
