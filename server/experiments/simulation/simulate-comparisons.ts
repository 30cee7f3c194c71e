/**
 * Measures how often verdicts are right, on simulated experiments with a known effect:
 *
 *     node server/experiments/simulation/simulate-comparisons.ts [experiments in each cell, 1000 by default]
 *
 * Prints the share of better and worse among equal candidates, which must be at most 5 %, and the share of effects of 1, 2
 * and 5 % that are found. The same call prints the same numbers, because the seeds are fixed.
 */
import { compareIndicator } from '../statistics/comparison.ts';
import { compareUnits } from '../statistics/randomization.ts';
import type { Verdict } from '../statistics/verdict.ts';
import {
  drawBatch,
  drawSwitchback,
  INDICATOR,
  NOISE_DISTRIBUTIONS,
  type Noise,
  type Population,
} from './populations.ts';

/** The frequency of each verdict, as a share of the experiments. */
export type VerdictShares = Record<Verdict, number>;

/** Returns the verdicts on simulated batches. Less is better, so a candidate with an effect above 0 is worse. */
export function simulateBatches(
  population: Population,
  inputs: number,
  experiments: number,
  resamples?: number,
): VerdictShares {
  return simulateVerdicts(experiments, (seed) => {
    const { control, candidate } = drawBatch(population, inputs, seed);
    return compareIndicator(control, candidate, INDICATOR, { objective: 'minimize', resamples, seed })
      .verdict;
  });
}

/** Returns the verdicts on simulated switchback tests. The number of draws does not change the level of the test. */
export function simulateSwitchbackTests(
  population: Population,
  units: number,
  experiments: number,
  draws = 1999,
): VerdictShares {
  return simulateVerdicts(experiments, (seed) => {
    const plan = drawSwitchback(population, units, seed);
    return compareUnits(plan, INDICATOR, {
      objective: 'minimize',
      control_instance_id: 'control',
      candidate_instance_id: 'candidate',
      draws,
      seed,
    }).verdict;
  });
}

/** Returns the shares of the verdicts over experiments, each with its own seed. */
export function simulateVerdicts(experiments: number, decide: (seed: string) => Verdict): VerdictShares {
  const shares: VerdictShares = { better: 0, worse: 0, equivalent: 0, undecided: 0 };
  for (let experiment = 0; experiment < experiments; experiment += 1) {
    shares[decide(`experiment ${experiment}`)] += 1 / experiments;
  }
  return shares;
}

/** Numbers of inputs, units or originals, one for each column of a table. */
export const SAMPLE_SIZES = [10, 20, 50];
const formatPercent = (share: number) => `${(100 * share).toFixed(1)} %`.padStart(8);

/** Prints a row of shares, one for each sample size, for every noise and number of repetitions. */
export function printTable(
  title: string,
  repetitions: readonly number[],
  computeRow: (noise: Noise, repetitions: number) => number[],
): void {
  console.log(`\n${title}`);
  console.log(`noise      repetitions ${SAMPLE_SIZES.map((size) => `${size}`.padStart(8)).join('')}`);
  for (const noise of Object.keys(NOISE_DISTRIBUTIONS) as Noise[]) {
    for (const count of repetitions) {
      const shares = computeRow(noise, count).map(formatPercent).join('');
      console.log(`${noise.padEnd(11)}${`${count}`.padEnd(12)}${shares}`);
    }
  }
}

function printComparisons(experiments: number): void {
  const kinds = [
    { name: 'Batch, by inputs', simulate: simulateBatches },
    { name: 'Switchback, by units', simulate: simulateSwitchbackTests },
  ];
  for (const { name, simulate } of kinds) {
    const computeRow = (population: Population, select: (shares: VerdictShares) => number) =>
      SAMPLE_SIZES.map((size) => select(simulate(population, size, experiments)));
    printTable(`${name}: better or worse on equal candidates`, [1, 5], (noise, repetitions) =>
      computeRow({ noise, repetitions, effect: 0 }, (shares) => shares.better + shares.worse),
    );
    for (const effect of [0.01, 0.02, 0.05]) {
      printTable(`${name}: worse on candidates worse by ${100 * effect} %`, [1, 5], (noise, repetitions) =>
        computeRow({ noise, repetitions, effect }, (shares) => shares.worse),
      );
    }
  }
}

if (import.meta.main) printComparisons(Number(process.argv[2] ?? 1000));
