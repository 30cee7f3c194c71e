/** The bound of a mean difference for inputs of different sizes, by arithmetic. */
import { describe, expect, test } from 'vitest';
import { estimateMeanInterval, Resampler } from '../bootstrap.ts';
import { boundMeanDifference, widenForLargeInputs } from './totals.ts';

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
