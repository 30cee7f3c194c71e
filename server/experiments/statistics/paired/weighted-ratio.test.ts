/** The interval of a ratio of totals, by arithmetic. */
import { describe, expect, test } from 'vitest';
import { estimateWeightedRatioInterval } from './totals.ts';

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
