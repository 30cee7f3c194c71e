import { describe, expect, test } from 'vitest';
import { computeMeanRatio, estimateMeanInterval, estimateRatioInterval, Resampler } from './bootstrap.ts';
import { computeStudentTQuantile } from './distributions.ts';

const DIFFERENCES = Float64Array.of(0.3, 1.2, -0.4, 2.5, 0.9, 4.8, 0.1, 0.7, 1.6, 3.3, -0.2, 0.5);
const CONTROL = Float64Array.of(10, 12, 9, 15, 11, 30, 8, 10, 14, 22, 9, 10);
const CANDIDATE = CONTROL.map((value, index) => value + (DIFFERENCES[index] ?? 0));
const MANY = new Resampler({ seed: 'many', resamples: 39_999 });

describe('intervals', () => {
  // A second implementation in numpy 2.4.6, with 400,000 resamples of default_rng(5) and scipy 1.17.1's t.ppf: estimate
  // minus each end's critical value times the standard error. The spread between seeds of 39,999 resamples is about 1 %.
  test('of a mean match numpy', () => {
    const interval = estimateMeanInterval(DIFFERENCES, MANY);
    expect(interval?.low).toBeCloseTo(0.2884, 2);
    expect(Math.abs((interval?.high ?? 0) - 2.866)).toBeLessThan(0.04);
  });

  // The same with a confidence of 0.9. The low end is that of Student's interval: mean - t.ppf(0.95, 11) standard errors.
  test('of 90 % match numpy', () => {
    const interval = estimateMeanInterval(DIFFERENCES, MANY, 0.9);
    expect(interval?.low).toBeCloseTo(0.4699946945134603, 6);
    expect(Math.abs((interval?.high ?? 0) - 2.4471)).toBeLessThan(0.03);
  });

  test('of a ratio match numpy', () => {
    expect(computeMeanRatio(CONTROL, CANDIDATE)).toBeCloseTo(1.095625, 12);
    const interval = estimateRatioInterval(CONTROL, CANDIDATE, MANY);
    expect(interval?.low).toBeCloseTo(1.04407, 3);
    expect(Math.abs((interval?.high ?? 0) - 1.1479)).toBeLessThan(0.002);
  });

  test('are the same for the same seed, and differ a little for another', () => {
    const estimate = (seed: string) =>
      estimateMeanInterval(DIFFERENCES, new Resampler({ seed, resamples: 1999 }));
    const one = estimate('one');
    expect(estimate('one')).toEqual(one);
    const other = estimate('other');
    expect(other?.high).not.toBe(one?.high);
    expect(Math.abs((other?.high ?? 0) - (one?.high ?? 0))).toBeLessThan(0.3);
  });

  test('do not exist below five values', () => {
    expect(estimateMeanInterval(DIFFERENCES.slice(0, 4), MANY)).toBe(null);
    expect(estimateMeanInterval(new Float64Array(0), MANY)).toBe(null);
    expect(estimateRatioInterval(CONTROL.slice(0, 4), CANDIDATE.slice(0, 4), MANY)).toBe(null);
  });

  test('of equal values have the width 0', () => {
    expect(estimateMeanInterval(new Float64Array(5).fill(2), MANY)).toEqual({ low: 2, high: 2 });
  });

  test('stay finite where most values are 0', () => {
    const values = Float64Array.of(...new Array<number>(18).fill(0), 3, 5, -1, 2, 4, -2);
    const interval = estimateMeanInterval(values, MANY);
    expect(interval?.low).toBeLessThan(0);
    expect(interval?.high).toBeGreaterThan(0.5);
    expect(interval?.high).toBeLessThan(5);
  });

  test('T1: do not exist where fewer than six values differ and others tie', () => {
    const differing = [3, 5, -1, 2, 4];
    const ties = new Array<number>(18).fill(0);
    expect(estimateMeanInterval(Float64Array.of(...ties), MANY)).toBe(null);
    expect(estimateMeanInterval(Float64Array.of(...ties, ...differing), MANY)).toBe(null);
    expect(estimateMeanInterval(Float64Array.of(...ties, ...differing, -2), MANY)).not.toBe(null);
    expect(estimateMeanInterval(Float64Array.from(differing), MANY)).not.toBe(null);
  });

  test('change sign with the values', () => {
    const resampler = new Resampler({ seed: 's', resamples: 1999 });
    const interval = estimateMeanInterval(DIFFERENCES, resampler);
    expect(
      estimateMeanInterval(
        DIFFERENCES.map((value) => -value),
        resampler,
      ),
    ).toEqual({ low: -(interval?.high ?? 0), high: -(interval?.low ?? 0) });
  });
});

test.each([
  { control: [1, -1], ratio: null },
  { control: [0, 1], ratio: null },
  { control: [-2, -4], ratio: -2 / 3 },
])('the ratio to controls of $control is $ratio', ({ control, ratio }) => {
  expect(computeMeanRatio(Float64Array.from(control), Float64Array.of(1, 3))).toBe(ratio);
});

// scipy 1.17.1: scipy.stats.t.ppf(0.95, df) and scipy.stats.t.ppf(0.975, df). The error of jstat is below 1e-7.
test.each([
  [4, 2.1318467863266495, 2.7764451051977934],
  [5, 2.0150483733330233, 2.5705818356363146],
  [9, 1.833112932656237, 2.262157162798205],
  [19, 1.7291328115213682, 2.0930240544083087],
  [49, 1.6765508926168535, 2.0095752371292392],
  [299, 1.6499657674263895, 1.9679296690656698],
])('quantiles of Student’s t with %d degrees of freedom', (degrees, oneSided, twoSided) => {
  expect(computeStudentTQuantile(0.95, degrees)).toBeCloseTo(oneSided, 6);
  expect(computeStudentTQuantile(0.975, degrees)).toBeCloseTo(twoSided, 6);
});
