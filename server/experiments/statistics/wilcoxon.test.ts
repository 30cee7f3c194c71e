import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testSignedRanks } from './wilcoxon.ts';

describe('worked examples', () => {
  test('Darwin’s plants, as in the documentation of scipy.stats.wilcoxon', () => {
    const differences = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75];
    const found = testSignedRanks(differences);
    expect(found).toMatchObject({ n: 15, w_plus: 96, w_minus: 24, method: 'exact' });
    expect(found.p_value).toBeCloseTo(0.041259765625, 14);
  });

  test('the depression scores of Hollander and Wolfe, the example of R’s wilcox.test', () => {
    // R: V = 40, one-sided p = 0.01953. Nine pairs are below the default minimum.
    const first = [1.83, 0.5, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.3];
    const second = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
    const differences = first.map((value, index) => value - (second[index] ?? 0));
    const found = testSignedRanks(differences, 1);
    expect(found.w_plus).toBe(40);
    expect(found.p_value).toBeCloseTo(2 * 0.01953125, 14);
    expect(testSignedRanks(differences).p_value).toBe(null);
  });

  test('ties match the enumeration of all 4,096 signs', () => {
    // By enumeration with scipy 1.17.1's rankdata: 2 * mean(sums <= 15.5).
    const found = testSignedRanks([1, 1, 2, -2, 3, 3, 3, -1, 5, 6, 6, -4]);
    expect(found).toMatchObject({ w_plus: 62.5, w_minus: 15.5 });
    expect(found.p_value).toBeCloseTo(0.068359375, 14);
  });

  test('60 and 100 differences have exact p-values', () => {
    // scipy 1.17.1: wilcoxon(d, method='exact')
    const sixty = Array.from({ length: 60 }, (_, i) => (((i * 37) % 61) + 0.25) * ((i * i) % 7 < 3 ? 1 : -1));
    expect(testSignedRanks(sixty).p_value).toBeCloseTo(0.0014581456610431864, 14);
    const hundred = Array.from({ length: 100 }, (_, i) => (i + 1) * (i % 10 < 6 ? 1 : -1));
    expect(testSignedRanks(hundred)).toMatchObject({ method: 'exact', w_minus: 2140 });
    expect(testSignedRanks(hundred).p_value).toBeCloseTo(0.1869907332050531, 12);
  });

  test('120 differences with ties use the normal approximation', () => {
    // scipy 1.17.1: wilcoxon(d, method='asymptotic', correction=True)
    const many = Array.from({ length: 120 }, (_, i) => ((i * 37) % 101) - 35 + 0.5 * (i % 3));
    const found = testSignedRanks(many);
    expect(found.method).toBe('normal');
    expect(Math.min(found.w_plus, found.w_minus)).toBe(1814.5);
    expect(found.p_value).toBeCloseTo(2.0010451407636263e-6, 16);
  });
});

describe('few and equal differences', () => {
  test('zeros are ignored, and below ten other differences there is no p-value', () => {
    expect(testSignedRanks([0, 0, -0])).toEqual({
      n: 0,
      w_plus: 0,
      w_minus: 0,
      method: 'exact',
      score: 0,
      p_value: null,
    });
    const nine = Array.from({ length: 9 }, (_, index) => index + 1);
    expect(testSignedRanks([...nine, 0, 0, 0])).toMatchObject({ n: 9, w_plus: 45, p_value: null });
    // All ten positive: one sign pattern of 1,024 on each side.
    expect(testSignedRanks([...nine, 10]).p_value).toBe(2 / 1024);
  });

  test('rounding does not break ties', () => {
    const rounded = testSignedRanks([0.1, -(10.3 - 10.2), 0.3 - 0.2, 1.1 - 1, -(5.3 - 5.2), 1, 2, 3, 4, 5]);
    const exact = testSignedRanks([1, -1, 1, 1, -1, 10, 20, 30, 40, 50]);
    expect(rounded).toEqual(exact);
  });

  test('ten equal differences of one sign have the smallest p-value for ten', () => {
    expect(testSignedRanks(new Array(10).fill(-3)).p_value).toBe(2 / 1024);
  });
});

describe('any differences', () => {
  const differences = fc.array(fc.integer({ min: -30, max: 30 }), { minLength: 0, maxLength: 130 });

  test('have ranks that sum to n (n + 1) / 2 and a probability that ignores order and sign', () => {
    fc.assert(
      fc.property(differences, (values) => {
        const { n, w_plus, w_minus, p_value } = testSignedRanks(values);
        expect(w_plus + w_minus).toBe((n * (n + 1)) / 2);
        if (n < 10) expect(p_value).toBe(null);
        else expect(p_value).toBeGreaterThan(0);
        expect(p_value ?? 1).toBeLessThanOrEqual(1);
        expect(testSignedRanks(values.toReversed()).p_value).toBe(p_value);
        const mirrored = testSignedRanks(values.map((value) => -value));
        expect([mirrored.w_plus, mirrored.p_value]).toEqual([w_minus, p_value]);
      }),
    );
  });
});
