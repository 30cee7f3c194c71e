import { describe, expect, test } from 'vitest';
import {
  clampToFinite,
  computeScale,
  interpolatePercentile,
  mean,
  normalUpperTail,
  standardDeviation,
} from './numbers.ts';

/** Expects a value within a relative error. */
function expectNear(actual: number, expected: number, relative: number): void {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(relative * Math.abs(expected));
}

describe('the tail of the normal distribution', () => {
  // scipy 1.17.1: scipy.stats.norm.sf(z)
  test.each([
    [0, 0.5],
    [0.5, 0.3085375387259869],
    [1, 0.15865525393145707],
    [1.96, 0.024997895148220435],
    [2.9, 0.0018658133003840375],
    [3, 0.0013498980316300933],
    [3.1, 0.0009676032132183563],
    [5, 2.866515718791933e-7],
    [8, 6.22096057427174e-16],
    [20, 2.7536241186061556e-89],
  ])('above %d', (z, expected) => {
    expectNear(normalUpperTail(z), expected, 1e-11);
    expectNear(normalUpperTail(-z), 1 - expected, 1e-15);
  });
});

describe('mean and standard deviation', () => {
  /** Returns the first value, then 500 times the other two: the construction of the NumAcc sets of NIST. */
  const generateNumAcc = (first: number, low: number, high: number) => [
    first,
    ...Array.from({ length: 500 }, () => [low, high]).flat(),
  ];
  // NIST Statistical Reference Datasets, univariate: the certified values of NumAcc1 to NumAcc4. The precision of the
  // standard deviation is limited, because no double equals a value such as 10000000.1.
  test.each([
    {
      name: 'NumAcc1',
      values: [10_000_001, 10_000_003, 10_000_002],
      certified: { mean: 10_000_002, deviation: 1 },
      precision: 1e-15,
    },
    {
      name: 'NumAcc2',
      values: generateNumAcc(1.2, 1.1, 1.3),
      certified: { mean: 1.2, deviation: 0.1 },
      precision: 1e-14,
    },
    {
      name: 'NumAcc3',
      values: generateNumAcc(1_000_000.2, 1_000_000.1, 1_000_000.3),
      certified: { mean: 1_000_000.2, deviation: 0.1 },
      precision: 1e-9,
    },
    {
      name: 'NumAcc4',
      values: generateNumAcc(10_000_000.2, 10_000_000.1, 10_000_000.3),
      certified: { mean: 10_000_000.2, deviation: 0.1 },
      precision: 1e-8,
    },
  ])('of $name', ({ values, certified, precision }) => {
    expectNear(mean(values), certified.mean, 1e-15);
    expectNear(standardDeviation(values), certified.deviation, precision);
  });

  test('of 5,000 values above a large one keep their precision', () => {
    // Arithmetic: the numbers 1 to n have the variance n (n + 1) / 12, whatever number is added to them.
    const values = Array.from({ length: 5000 }, (_, index) => 2 ** 40 + index + 1);
    expect(mean(values)).toBe(2 ** 40 + 2500.5);
    expectNear(standardDeviation(values) ** 2, (5000 * 5001) / 12, 1e-14);
  });
});

describe('scaling', () => {
  test.each([1e308, Number.MAX_VALUE, 5e-324, 1, 3.7e-200, 12345])('changes no digit of %d', (value) => {
    const { factor, inverse } = computeScale([value / 2, -value]);
    expect(value * factor * inverse).toBe(value);
    expect(factor * inverse).toBe(1);
    expect(value * factor).toBeLessThan(4);
  });

  test('of no values and of zeros is 1', () => {
    expect(computeScale([])).toEqual({ factor: 1, inverse: 1 });
    expect(computeScale([0, -0])).toEqual({ factor: 1, inverse: 1 });
  });

  test('turns an infinity into the largest double', () => {
    expect(clampToFinite(Number.POSITIVE_INFINITY)).toBe(Number.MAX_VALUE);
    expect(clampToFinite(Number.NEGATIVE_INFINITY)).toBe(-Number.MAX_VALUE);
    expect(Object.is(clampToFinite(-0), 0)).toBe(true);
  });
});

test('percentiles between the extremes of all doubles do not overflow', () => {
  expect(interpolatePercentile([-Number.MAX_VALUE, Number.MAX_VALUE], 50)).toBe(0);
  expect(interpolatePercentile([7], 99)).toBe(7);
});

test('percentiles between neighbouring doubles ascend in spite of rounding', () => {
  const ascending = [-1.7976931348623131e308, -1.797693134862313e308, 0, 0];
  const found = [1, 5, 10, 25, 50].map((percent) => interpolatePercentile(ascending, percent));
  expect(found).toEqual([...found].sort((a, b) => a - b));
});
