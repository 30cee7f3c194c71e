/** T3: bounds of percentiles and of the shifted geometric mean against numpy and brute force. */
import { describe, expect, test } from 'vitest';
import { Resampler } from '../bootstrap.ts';
import type { NumberPair } from '../paired/units.ts';
import { boundGeometricMean } from './geometric-mean-bound.ts';
import { boundPercentile, countPercentileInputs, findPercentileObstacle } from './statistic-bound.ts';

const resampler = new Resampler({ seed: 'bounds', resamples: 19_999 });
const pairUp = (control: readonly number[], candidate: readonly number[]): NumberPair[][] =>
  control.map((value, index) => [{ control: value, candidate: candidate[index] ?? Number.NaN }]);
const swap = (inputs: readonly NumberPair[][]) =>
  inputs.map((pairs) => pairs.map(({ control, candidate }) => ({ control: candidate, candidate: control })));

const CONTROL = [10, 12, 9, 15, 11, 30, 8, 10.5, 14, 22, 9.5, 10.2];
const DIFFERENCES = [0.3, 1.2, -0.4, 2.5, 0.9, 4.8, 0.1, 0.7, 1.6, 3.3, -0.2, 0.5];
const TWELVE = pairUp(
  CONTROL,
  CONTROL.map((value, index) => value + (DIFFERENCES[index] ?? 0)),
);

describe('T3: the bound of the shifted geometric mean', () => {
  const bound = (inputs: readonly NumberPair[][], measure: 'ratio' | 'difference') =>
    boundGeometricMean(inputs, measure, { resampler, differing: inputs.length });

  // A second implementation: numpy 2.4.6 with 20,000 resamples of default_rng(5), t.ppf and brentq of scipy 1.17.1. The test
  // of a limit x is the difference of the mean logarithms with its studentised bootstrap, solved for x.
  test('matches numpy and scipy', () => {
    const ratio = bound(TWELVE, 'ratio');
    expect(ratio?.effect).toBeCloseTo(1.0778763117244434, 12);
    expect(Math.abs((ratio?.bound ?? 0) - 1.1113)).toBeLessThan(0.001);
    const difference = bound(TWELVE, 'difference');
    expect(difference?.effect).toBeCloseTo(0.9957885001893416, 12);
    expect(Math.abs((difference?.bound ?? 0) - 1.8759)).toBeLessThan(0.03);
    expect(Math.abs(1 / (bound(swap(TWELVE), 'ratio')?.bound ?? 0) - 1.0395)).toBeLessThan(0.001);
    expect(Math.abs(-(bound(swap(TWELVE), 'difference')?.bound ?? 0) - 0.4199)).toBeLessThan(0.02);
  });

  test('does not exist as a ratio to 0, and does as a difference', () => {
    const inputs = pairUp(
      CONTROL.map(() => 0),
      CONTROL,
    );
    expect(bound(inputs, 'ratio')).toBe(null);
    expect(bound(inputs, 'difference')?.bound).toBeGreaterThan(bound(inputs, 'difference')?.effect ?? 0);
  });

  test('is the effect where all logarithms are equally far apart', () => {
    const inputs = pairUp([10, 10, 10, 10, 10, 10], [11, 11, 11, 11, 11, 11]);
    expect(bound(inputs, 'ratio')).toEqual({
      effect: expect.closeTo(1.1, 12),
      bound: expect.closeTo(1.1, 12),
    });
  });

  test('counts an input with two repetitions once', () => {
    const doubled = TWELVE.map((pairs) => [...pairs, ...pairs]);
    const [once, twice] = [bound(TWELVE, 'ratio'), bound(doubled, 'ratio')];
    expect(twice?.effect).toBeCloseTo(once?.effect ?? 0, 12);
    expect(twice?.bound).toBeCloseTo(once?.bound ?? 0, 6);
  });
});

describe('T3: the bound of a percentile', () => {
  // numpy.quantile of the ratios of numpy.percentile over 20,000 resamples.
  test('of twelve inputs matches numpy', () => {
    const median = (inputs: readonly NumberPair[][], measure: 'ratio' | 'difference') =>
      boundPercentile(inputs, measure, { probability: 0.5, resampler });
    expect(median(TWELVE, 'ratio').effect).toBeCloseTo(1.0744186046511628, 12);
    // Few values are possible, so another seed can have the next one.
    expect(Math.abs((median(TWELVE, 'ratio').bound ?? 0) - 1.13076923)).toBeLessThan(0.01);
    expect(Math.abs((median(TWELVE, 'difference').bound ?? 0) - 1.7)).toBeLessThan(0.06);
    expect(Math.abs(1 / (median(swap(TWELVE), 'ratio').bound ?? 0) - 1.025)).toBeLessThan(0.01);
  });

  test('of sixty inputs matches numpy', () => {
    const control = Array.from({ length: 60 }, (_, i) => 100 * Math.exp(0.5 * Math.sin(i * 1.7) + 0.01 * i));
    const candidate = control.map((value, i) => value * (1 + 0.02 * Math.cos(i * 2.3)));
    const found = boundPercentile(pairUp(control, candidate), 'ratio', { probability: 0.95, resampler });
    expect(found.effect).toBeCloseTo(0.9906968540640589, 12);
    expect(Math.abs((found.bound ?? 0) - 1.01689611)).toBeLessThan(0.001);
  });

  test.each([
    [0.5, 5],
    [0.75, 11],
    [0.25, 11],
    [0.9, 29],
    [0.95, 59],
    [0.05, 59],
    [0.99, 299],
  ])('of %d needs %i inputs: the smallest n with 1 - q^n of at least 0.95', (probability, inputs) => {
    expect(countPercentileInputs(probability)).toBe(inputs);
    const q = Math.max(probability, 1 - probability);
    expect(1 - q ** inputs).toBeGreaterThanOrEqual(0.95);
    expect(1 - q ** (inputs - 1)).toBeLessThan(0.95);
  });

  describe('does not exist', () => {
    const isTie = ({ control, candidate }: NumberPair) => control === candidate;
    const obstacle = (control: readonly number[], candidate: readonly number[], probability: number) =>
      findPercentileObstacle(pairUp(control, candidate), probability, isTie)?.kind ?? null;
    const sizes = Array.from({ length: 60 }, (_, index) => 100 + index ** 1.5);

    test.each<[string, (value: number, index: number) => number, string | null]>([
      ['where all values differ', (value) => 1.01 * value, null],
      // The ranks 54 to 60 hold p95, and one of these inputs differs.
      [
        'where few inputs near it differ',
        (value, index) => (index % 10 === 5 ? 1.25 * value : value),
        'ties',
      ],
      ['where only inputs far from it differ', (value, index) => (index < 10 ? 1.25 * value : value), 'ties'],
    ])('%s', (_, change, kind) => {
      expect(obstacle(sizes, sizes.map(change), 0.95)).toBe(kind);
    });

    test('where runs end at a time limit, exactly or a little later', () => {
      const limit = 500;
      const capped = (shift: number, late: number) =>
        sizes.map((value, index) => Math.min(value + shift, limit + (late * index) / 60));
      expect(obstacle(capped(0, 0.5), capped(1, 0.7), 0.95)).toBe('shared');
      expect(obstacle(capped(0, 0.5), capped(1, 0.7), 0.5)).toBe(null);
    });
  });
});
