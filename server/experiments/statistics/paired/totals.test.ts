/** The bound of a mean difference for inputs of different sizes, by arithmetic. */

import { describe, expect, test } from 'vitest';
import {
  ABSOLUTE,
  buildSide,
  compareRuns,
  compareValues,
  type Value,
} from '../../../testing/fixtures/paired-runs.ts';
import { estimateMeanInterval, Resampler } from '../bootstrap.ts';
import { boundMeanDifference, estimateWeightedRatioInterval, widenForLargeInputs } from './totals.ts';

const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const resampler = new Resampler({ seed: 'large inputs', resamples: 1999 });

const computeBound = (differences: readonly number[], sizes: readonly number[] = SIZES) =>
  boundMeanDifference(
    sizes.map((size, index) => ({ size, difference: differences[index] ?? 0 })),
    resampler,
    0.9,
  );

describe('the bound', () => {
  test('is the same for every size when the differences are', () => {
    expect(computeBound(SIZES.map(() => 3))).toBeCloseTo(3, 12);
    expect(computeBound(SIZES.map(() => -3))).toBeCloseTo(-3, 12);
    expect(computeBound(SIZES.map(() => 0))).toBeCloseTo(0, 12);
  });

  test('is a share of the bound of the mean size when the differences are a share of the size', () => {
    // The formula is 0.02 exp(m + v / 2 + t sqrt(v / 10 + v^2 / 18)), where m and v are mean and variance of the logarithms.
    // Student's t with 9 degrees of freedom has the 97.5 % point 2.2621571628.
    expect(computeBound(SIZES.map((size) => 0.02 * size))).toBeCloseTo(66.443809026, 6);
  });

  test('of a gain is that of the observed sizes', () => {
    // The mean of the sizes is 102.3. Larger inputs elsewhere would only increase the gain.
    expect(computeBound(SIZES.map((size) => -0.02 * size))).toBeCloseTo(-2.046, 9);
  });

  test('is that of the mean difference for equal sizes', () => {
    const differences = [3, -1, 4, 1, -5, 9, 2, -6, 5, 3];
    const equal = SIZES.map(() => 7);
    const { high } = estimateMeanInterval(Float64Array.from(differences), resampler, 0.9) ?? {};
    expect(computeBound(differences, equal)).toBeCloseTo(high ?? Number.NaN, 9);
  });

  test('counts a few differences as shares of the size', () => {
    const differences = SIZES.map((_, index) => (index < 2 ? 1 : 0));
    // The share is at least 2 / 1,023, and the bound of the mean size is above 1,000.
    expect(computeBound(differences)).toBeGreaterThan(2);
  });

  test.each([
    ['a size of 0', [0, 1, 2, 3, 4, 5]],
    ['four inputs', [1, 2, 3, 4]],
  ])('is unknown with %s', (_, sizes) => {
    expect(computeBound([1, 2, 3, 4, 5, 6], sizes)).toBeNull();
  });

  test('is a number for sizes over 600 orders of magnitude', () => {
    const sizes = [1e-300, 1, 2, 3, 4, 1e300];
    expect(computeBound(sizes, sizes)).toBeGreaterThan(0);
  });
});

describe('T13: an interval', () => {
  const widen = (interval: { low: number; high: number }, differences: readonly number[]) =>
    widenForLargeInputs(
      interval,
      SIZES.map((size, index) => ({ size, difference: differences[index] ?? 0 })),
      { resampler, confidence: 0.9 },
    );

  test('has its end away from 0 moved out, and the end next to 0 stays', () => {
    const growing = SIZES.map((size) => 0.02 * size);
    const { low, high } = widen({ low: 1, high: 3 }, growing);
    expect(low).toBe(1);
    // The bound of the same inputs above.
    expect(high).toBeCloseTo(66.443809026, 6);
    const mirrored = widen(
      { low: -3, high: -1 },
      growing.map((one) => -one),
    );
    expect(mirrored).toEqual({ low: -high, high: -1 });
  });

  test('that is wide enough stays', () => {
    expect(
      widen(
        { low: -500, high: 500 },
        SIZES.map((size) => 0.02 * size),
      ),
    ).toEqual({ low: -500, high: 500 });
  });
});

const CONFIDENCE = 0.95;
const estimate = (control: readonly number[], candidate: readonly number[]) =>
  estimateWeightedRatioInterval(Float64Array.from(control), Float64Array.from(candidate), CONFIDENCE);

describe('T13: the interval of a ratio of totals', () => {
  test('is that of Student’s t for inputs of one size', () => {
    // The ratios 1 to 5 have the mean 3 and the standard error √0.5; t with 4 degrees has the point 2.7764451052.
    const half = 2.7764451052 * Math.sqrt(0.5);
    const found = estimate([2, 2, 2, 2, 2], [2, 4, 6, 8, 10]);
    expect(found?.low).toBeCloseTo(3 - half, 8);
    expect(found?.high).toBeCloseTo(3 + half, 8);
  });

  test('has the width of one degree of freedom where two inputs have all the weight', () => {
    // Six tiny inputs have no weight. Of two equal ones with the ratios 1 and 3, one degree is left: its point is 12.706204736.
    const found = estimate([1, 1, ...new Array(6).fill(1e-9)], [1, 3, ...new Array(6).fill(2e-9)]);
    expect(found?.low).toBeCloseTo(2 - 12.706204736, 5);
    expect(found?.high).toBeCloseTo(2 + 12.706204736, 5);
  });

  test('has no width where all ratios are equal', () => {
    const found = estimate([1, 2, 3, 4, 50], [2, 4, 6, 8, 100]);
    expect(found).toEqual({ low: 2, high: 2 });
  });

  test.each([
    ['four inputs', [1, 2, 3, 4]],
    ['one input with all the weight', [1e300, 1, 1, 1, 1]],
  ])('is unknown with %s', (_, control) => {
    expect(estimate(control, control)).toBeNull();
  });

  test('is that of negative totals too', () => {
    const found = estimate([-1, -2, -3, -4, -5], [-1.1, -2, -3, -4, -5]);
    const positive = estimate([1, 2, 3, 4, 5], [1.1, 2, 3, 4, 5]);
    expect(found?.low).toBeCloseTo(positive?.low ?? Number.NaN, 12);
    expect(found?.high).toBeCloseTo(positive?.high ?? Number.NaN, 12);
  });
});

describe('a value for failed runs (PAR10)', () => {
  const control: (Value | Value[])[] = [3, [5, undefined], 40, 7, undefined, 20, 11];
  const candidate: (Value | Value[])[] = [2, [4, 6], undefined, 9, undefined, 18, 12];
  const replace = (side: (Value | Value[])[]) => side.map((value) => [value].flat().map((one) => one ?? 600));

  test('gives the means, difference and ratio of runs that took it, and the same verdict', () => {
    const found = compareValues(control, candidate, { failure_value: 600 });
    const replaced = compareValues(replace(control), replace(candidate), ABSOLUTE);
    // Means of 3, 302.5, 40, 7, 600, 20 and 11, and of 2, 5, 600, 9, 600, 18 and 12.
    expect(found.with_failures?.control_mean).toBeCloseTo(983.5 / 7, 10);
    expect(found.with_failures?.candidate_mean).toBeCloseTo(1246 / 7, 10);
    expect(found.with_failures).toMatchObject({
      failure_value: 600,
      mean_difference: replaced.mean_difference,
      ratio: replaced.ratio,
    });
    expect({ ...found, with_failures: null }).toEqual(compareValues(control, candidate));
  });

  test('is null without such a value, and without a run that ended', () => {
    expect(compareValues(control, candidate).with_failures).toBeNull();
    const queued = buildSide('new', [1, 2]).map((run) => ({ ...run, status: 'queued' }));
    expect(compareRuns(buildSide('prod', [1, 2]), queued, { failure_value: 9 }).with_failures).toEqual({
      failure_value: 9,
      control_mean: null,
      candidate_mean: null,
      mean_difference: null,
      ratio: null,
    });
  });

  test.each([
    ['minimize', 30, 1],
    ['minimize', 41, 0],
    ['maximize', 3, 2],
    ['none', 0, 0],
  ] as const)('that must %s, %d, is no worse than %i runs', (direction, failure_value, count) => {
    const { warnings } = compareValues(control, candidate, { direction, failure_value });
    const found = warnings.filter((text) => text.includes('no better than failure_value'));
    expect(found.map((text) => Number.parseInt(text, 10))).toEqual(count === 0 ? [] : [count]);
  });
});
