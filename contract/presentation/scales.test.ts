/** Scales and axes of pictures. */
import { expect, test } from 'vitest';
import { buildScale, findExtent, listTicks, truncateLabel } from './scales.ts';

test('a scale maps its domain to its range, and a single value to the middle', () => {
  expect([0, 5, 10].map(buildScale([0, 10], [100, 200]))).toEqual([100, 150, 200]);
  expect(buildScale([3, 3], [0, 50])(3)).toBe(25);
});

test.each([
  [0, 10, 5, [0, 2, 4, 6, 8, 10]],
  [-0.114, 0.01, 4, [-0.1, -0.05, 0]],
  [-3, 3, 3, [-2, 0, 2]],
  [7, 7, 4, [7]],
])('the ticks from %d to %d, about %d, are round', (low, high, count, ticks) => {
  expect(listTicks(low, high, count)).toEqual(ticks);
});

test('an extent covers all values', () => {
  expect(findExtent([3, -1, 2])).toEqual([-1, 3]);
  expect(findExtent([])).toEqual([0, 0]);
});

test('a long label ends in an ellipsis', () => {
  expect(truncateLabel('result.custom.late_stops', 66)).toBe('result.cu…');
  expect(truncateLabel('short', 66)).toBe('short');
});
