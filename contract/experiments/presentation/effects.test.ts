/** Effects of comparisons: changes around 0, with their margins. */
import { expect, test } from 'vitest';
import {
  formatChange,
  formatInterval,
  formatPValue,
  type MeasuredComparison,
  readEffect,
} from './effects.ts';

const RATIO: MeasuredComparison = {
  measure: 'relative',
  geometric_mean_ratio: { value: 0.9, interval: { low: 0.85, high: 0.96 } },
  mean_difference: { value: -50, interval: { low: -80, high: -20 } },
  tolerance: { type: 'relative', value: 0.25 },
  control: { mean: 200 },
};

test('a ratio is a change from 1, and its margin is symmetric for ratios', () => {
  const effect = readEffect(RATIO);
  expect(effect.value).toBeCloseTo(-0.1, 12);
  expect(effect.low).toBeCloseTo(-0.15, 12);
  expect(effect.high).toBeCloseTo(-0.04, 12);
  expect(effect.margin).toEqual({ low: -0.2, high: 0.25 });
  expect(formatInterval(effect)).toBe('−15\u00a0% to −4\u00a0%');
});

test('a difference has a margin in the unit of the indicator, or as a share of the control', () => {
  const difference: MeasuredComparison = { ...RATIO, measure: 'absolute' };
  expect(readEffect(difference)).toEqual({
    measure: 'absolute',
    value: -50,
    low: -80,
    high: -20,
    margin: { low: -50, high: 50 },
  });
  expect(readEffect({ ...difference, tolerance: { type: 'absolute', value: 3 } }).margin).toEqual({
    low: -3,
    high: 3,
  });
  expect(readEffect({ ...difference, control: { mean: null } }).margin).toBeNull();
});

test('a narrow interval has one more digit, and never a fifth', () => {
  const format = (low: number, high: number) =>
    formatInterval({ measure: 'relative', value: low, low, high, margin: null });
  expect(format(-0.08841, -0.08779)).toBe('−8.84\u00a0% to −8.78\u00a0%');
  expect(format(-0.100002, -0.099998)).toBe('−10\u00a0%');
  expect(format(-0.078503, -0.078497)).toBe('−7.85\u00a0%');
  expect(format(0.1, 0.1)).toBe('+10\u00a0%');
  // Equal changes of 3 % differ by what doubles round.
  expect(format(1.03 - 2e-16 - 1, 1.03 + 2e-16 - 1)).toBe('+3\u00a0%');
});

test('an effect without an interval has none in words', () => {
  const effect = readEffect({ ...RATIO, geometric_mean_ratio: { value: 0.9, interval: null } });
  expect(formatInterval(effect)).toBeNull();
  expect(readEffect({ ...RATIO, geometric_mean_ratio: null }).value).toBeNull();
});

test.each([
  ['relative', -0.0784, '−7.8\u00a0%'],
  ['relative', 0.5, '+50\u00a0%'],
  ['relative', 12.345, '+1,235\u00a0%'],
  ['relative', 0.00123, '+0.12\u00a0%'],
  ['relative', 0, '0\u00a0%'],
  ['absolute', -1234.567, '−1,235'],
  ['absolute', 0, '0'],
] as const)('%s %d is %s', (measure, change, text) => {
  expect(formatChange(measure, change)).toBe(text);
});

test.each([
  [0.04123, '0.041'],
  [0.00001, '< 0.0001'],
  [null, '–'],
])('the p-value %s is %s', (value, text) => {
  expect(formatPValue(value)).toBe(text);
});

test('T13: before the end, the interval is the one that decides at any look', () => {
  const interim = { ...RATIO, interim: true, sequential: { interval: { low: 0.8, high: 1.05 } } };
  const effect = readEffect(interim);
  expect(effect.isInterim).toBe(true);
  expect(effect.low).toBeCloseTo(-0.2, 12);
  expect(effect.high).toBeCloseTo(0.05, 12);
  expect(readEffect({ ...interim, sequential: null })).toMatchObject({ low: null, high: null });
  expect(readEffect({ ...interim, interim: false })).toMatchObject({ low: 0.85 - 1 });
});
