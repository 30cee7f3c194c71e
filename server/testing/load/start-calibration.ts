/** The share of simulated starts inside their predicted ranges. */
import { expect } from 'vitest';
import { RandomGenerator } from '../../platform/random-generator.ts';

export type DrawDuration = (random: RandomGenerator) => number;

const DISTRIBUTIONS: [string, DrawDuration][] = [
  ['exponential', (random) => -20_000 * Math.log(random.uniform())],
  ['lognormal', (random) => 10_000 * Math.exp(random.normal())],
  ['bimodal', (random) => (random.uniform() < 0.7 ? 5_000 : 100_000) * (0.9 + 0.2 * random.uniform())],
];

interface Calibration {
  /** Begins the seed of each distribution. */
  seed: string;
  queuesPerCase: number;
  /** Returns true if a run of a random queue starts within its range. */
  observeStart(draw: DrawDuration, random: RandomGenerator): boolean;
}

/** Expects that 80 % of the starts fall into their range, for each distribution of the durations and for all together. */
export function expectCalibratedStarts({ seed, queuesPerCase, observeStart }: Calibration): void {
  const shares = DISTRIBUTIONS.map(([name, draw]) => {
    const random = new RandomGenerator(`${seed} ${name}`);
    const inside = Array.from({ length: queuesPerCase }, () => observeStart(draw, random)).filter(Boolean);
    return inside.length / queuesPerCase;
  });
  // Three standard errors of a share.
  const tolerance = (queues: number): number => 3 * Math.sqrt((0.8 * 0.2) / queues);
  for (const [index, [name]] of DISTRIBUTIONS.entries())
    expect(Math.abs((shares[index] ?? 0) - 0.8), name).toBeLessThan(tolerance(queuesPerCase));
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  expect(Math.abs(mean - 0.8)).toBeLessThan(tolerance(queuesPerCase * shares.length));
}
