/** The range of the axis of intervals. */
import { expect, test } from 'vitest';
import type { Effect } from './effects.ts';
import { findDomain } from './interval-domain.ts';

const buildEffect = (low: number, high: number): Effect => ({
  measure: 'relative',
  value: (low + high) / 2,
  low,
  high,
  margin: { low: -0.01, high: 0.01 },
});

test('covers 0, the margin and all intervals', () => {
  const [low, high] = findDomain([buildEffect(-0.1, -0.05)]);
  expect(low).toBeLessThan(-0.1);
  expect(low).toBeGreaterThan(-0.12);
  expect(high).toBeGreaterThan(0.01);
});

test('one interval far from the others does not hide them', () => {
  const [low, high] = findDomain([buildEffect(-0.1, 0.1), buildEffect(-0.1, 0.05), buildEffect(-0.5, 90)]);
  expect(low).toBeGreaterThan(-0.7);
  expect(high).toBeLessThan(1);
});

test('without any number the range has a width', () => {
  const nothing: Effect = { measure: 'absolute', value: null, low: null, high: null, margin: null };
  expect(findDomain([nothing])).toEqual([-0.06, 0.06]);
});
