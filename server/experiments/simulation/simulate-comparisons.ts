/**
 * Shows how often verdicts are right, on made-up experiments with a known truth:
 *
 *     node server/experiments/simulation/simulate-comparisons.ts [experiments in each cell, 1000 by default]
 *
 * Prints the share of better and worse among equal candidates, which must be at most 5 %, the share of found effects of
 * 1, 2 and 5 %, and the coverage of the intervals by which the one in bootstrap.ts was chosen. Everything is seeded: the
 * same call prints the same numbers.
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

/** How often each verdict was given, as shares. */
export type VerdictShares = Record<Verdict, number>;

/** The verdicts on drawn batches; minimizing, so that a candidate with an effect above 0 is worse. */
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

/** The same for switchback tests. Fewer draws than the analysis makes leave the level as it is. */
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

/** The shares of verdicts over so many experiments, each from a seed of its own. */
export function simulateVerdicts(experiments: number, verdictOf: (seed: string) => Verdict): VerdictShares {
  const shares: VerdictShares = { better: 0, worse: 0, equivalent: 0, undecided: 0 };
  for (let experiment = 0; experiment < experiments; experiment += 1) {
    shares[verdictOf(`experiment ${experiment}`)] += 1 / experiments;
  }
  return shares;
}

export const SAMPLE_SIZES = [10, 20, 50];
const percent = (share: number) => `${(100 * share).toFixed(1)} %`.padStart(8);

/** Prints a line of shares, one for each of SIZES, for every noise and number of repetitions. */
export function printTable(
  title: string,
  repetitions: readonly number[],
  line: (noise: Noise, repetitions: number) => number[],
): void {
  console.log(`\n${title}`);
  console.log(`noise      repetitions ${SAMPLE_SIZES.map((size) => `${size}`.padStart(8)).join('')}`);
  for (const noise of Object.keys(NOISE_DISTRIBUTIONS) as Noise[]) {
    for (const count of repetitions) {
      const shares = line(noise, count).map(percent).join('');
      console.log(`${noise.padEnd(11)}${`${count}`.padEnd(12)}${shares}`);
    }
  }
}

function print(experiments: number): void {
  const kinds = [
    { name: 'Batch, by inputs', shares: simulateBatches },
    { name: 'Switchback, by units', shares: simulateSwitchbackTests },
  ];
  for (const { name, shares } of kinds) {
    const each = (population: Population, pick: (found: VerdictShares) => number) =>
      SAMPLE_SIZES.map((size) => pick(shares(population, size, experiments)));
    printTable(`${name}: better or worse on equal candidates`, [1, 5], (noise, repetitions) =>
      each({ noise, repetitions, effect: 0 }, (found) => found.better + found.worse),
    );
    for (const effect of [0.01, 0.02, 0.05]) {
      printTable(
        `${name}: worse, rightly, on candidates worse by ${100 * effect} %`,
        [1, 5],
        (noise, repetitions) => each({ noise, repetitions, effect }, (found) => found.worse),
      );
    }
  }
}

if (import.meta.main) print(Number(process.argv[2] ?? 1000));
