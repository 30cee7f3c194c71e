/** The bounds of the API proxy, added up. */
import { expect, test } from 'vitest';
import {
  ACTIVE_MAX,
  ACTIVE_TOTAL_MAX,
  CONNECTIONS_MAX,
  CONNECTIONS_TOTAL_MAX,
  computeShare,
  MEMORY,
  RESIDENT_BYTES_MAX,
} from './bounds.ts';

test('A7: what all runs can make the proxy hold is below the memory at which it ends', () => {
  const sum = Object.values(MEMORY).reduce((total, bytes) => total + bytes, 0);
  expect(sum).toBeLessThan(RESIDENT_BYTES_MAX);
});

test.each([
  [ACTIVE_MAX, ACTIVE_TOTAL_MAX],
  [CONNECTIONS_MAX, CONNECTIONS_TOTAL_MAX],
])('A7: the parts of runs in %d of each and %d of all are within it, and at least one', (max, totalMax) => {
  for (const runs of [1, 3, 5, 100, totalMax, 2 * totalMax]) {
    const share = computeShare(max, totalMax, runs);
    expect(share).toBeGreaterThanOrEqual(1);
    expect(share * runs).toBeLessThanOrEqual(Math.max(runs, totalMax));
  }
  expect(computeShare(max, totalMax, 1)).toBe(max);
});
