import { describe, expect, test } from 'vitest';
import { NOISE_DISTRIBUTIONS, type Noise } from './populations.ts';
import { simulateBatches, simulateSwitchbackTests } from './simulate-comparisons.ts';

const noises = Object.keys(NOISE_DISTRIBUTIONS) as Noise[];
const EXPERIMENTS = 200;
/** With a true share of 5 %, the share in 200 experiments exceeds this once in a thousand times. */
const SHARE_MAX = 0.1;

describe('equal candidates are seldom better or worse', () => {
  test.each(noises)('in batches with noise %s', (noise) => {
    for (const [inputs, repetitions] of [
      [10, 5],
      [20, 1],
      [50, 1],
    ] as const) {
      const { better, worse } = simulateBatches({ noise, repetitions, effect: 0 }, inputs, EXPERIMENTS, 399);
      expect(better + worse).toBeLessThanOrEqual(SHARE_MAX);
    }
  });

  test.each(noises)('in switchback tests with noise %s', (noise) => {
    for (const units of [10, 20]) {
      const { better, worse } = simulateSwitchbackTests(
        { noise, repetitions: 2, effect: 0 },
        units,
        EXPERIMENTS,
        399,
      );
      expect(better + worse).toBeLessThanOrEqual(SHARE_MAX);
    }
  });
});

describe('the power grows with the sample size', () => {
  test('in batches', () => {
    const found = [10, 20, 50].map(
      (inputs) => simulateBatches({ noise: 'normal', repetitions: 5, effect: 0.02 }, inputs, 100, 399).worse,
    );
    expect(found).toEqual([...found].sort((a, b) => a - b));
    expect(found[0]).toBeLessThan(0.6);
    expect(found[2]).toBeGreaterThan(0.8);
  });

  test('in switchback tests, without verdicts of the opposite sign', () => {
    const few = simulateSwitchbackTests({ noise: 'normal', repetitions: 5, effect: 0.05 }, 10, 100, 399);
    const many = simulateSwitchbackTests({ noise: 'normal', repetitions: 5, effect: 0.05 }, 50, 100, 399);
    expect(many.worse).toBeGreaterThan(few.worse);
    expect(many.worse).toBeGreaterThan(0.8);
    expect(few.better + many.better).toBeLessThan(0.03);
  });
});
