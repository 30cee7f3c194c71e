/** The interval of a bounded mean: numbers of numpy, and its coverage of rare changes. */
import { describe, expect, test } from 'vitest';
import { RandomGenerator } from '../../platform/random-generator.ts';
import { estimateBoundedMeanInterval } from './betting.ts';

const DIFFERENCES = [0.3, 1.2, -0.4, 2.5, 0.9, 4.8, 0.1, 0.7, 1.6, 3.3, -0.2, 0.5];
const ties = (count: number) => new Array<number>(count).fill(0);
const estimate = (values: readonly number[], bound: number, confidence = 0.95) =>
  estimateBoundedMeanInterval(Float64Array.from(values), bound, confidence);

describe('T1: the interval of a bounded mean', () => {
  // numpy 2.4.6: the hedged capital of the article for each of 399,999 means, as a running maximum, with θ = 1/2 and c = 3/4.
  test.each([
    { name: 'ten ties', values: ties(10), bound: 0.5, ends: [-0.190_097_5, 0.190_097_5] },
    { name: 'ten ties, 90 %', values: ties(10), bound: 0.5, confidence: 0.9, ends: [-0.162_525, 0.162_525] },
    { name: 'twelve differences', values: DIFFERENCES, bound: 6, ends: [-1.175_31, 3.106_32] },
    {
      name: 'twelve differences, 90 %',
      values: DIFFERENCES,
      bound: 6,
      confidence: 0.9,
      ends: [-0.816_09, 2.886_96],
    },
    {
      name: 'two of 50',
      values: [...ties(24), 0.2, ...ties(24), 0.2],
      bound: 0.3,
      ends: [-0.022_326, 0.034_245],
    },
  ])('of $name matches numpy', ({ values, bound, confidence = 0.95, ends: [low = 0, high = 0] }) => {
    const found = estimate(values, bound, confidence);
    // A step of numpy's grid.
    const step = (2 * bound) / 400_000;
    expect(Math.abs(found.low - low)).toBeLessThanOrEqual(1.01 * step);
    expect(Math.abs(found.high - high)).toBeLessThanOrEqual(1.01 * step);
  });

  test('changes sign with the values, and refuses one beyond the bound', () => {
    const { low, high } = estimate(DIFFERENCES, 6);
    const mirrored = estimate(
      DIFFERENCES.map((value) => -value),
      6,
    );
    expect(mirrored.low).toBeCloseTo(-high, 12);
    expect(mirrored.high).toBeCloseTo(-low, 12);
    expect(() => estimate(DIFFERENCES, 4.7)).toThrow(RangeError);
  });

  test.each([10, 20, 50])('of %i values misses a rare change in at most 5 %% of samples', (count) => {
    const [experiments, share, size] = [1000, 0.05, 0.25];
    let missed = 0;
    for (let experiment = 0; experiment < experiments; experiment += 1) {
      const generator = new RandomGenerator(`bounded ${count} ${experiment}`);
      const values = Array.from({ length: count }, () => (generator.uniform() < share ? size : 0));
      const { low, high } = estimate(values, 0.3);
      if (low > share * size || high < share * size) missed += 1;
    }
    // Two standard errors above 5 %.
    expect(missed / experiments).toBeLessThanOrEqual(0.064);
  });
});
