/** The time of runs that share slots. */
import { expect, test } from 'vitest';
import { estimateCoreHours, estimateTime, findMedian } from './estimate-time.ts';

test('the median of an even number of durations lies between the middle ones', () => {
  expect(findMedian([30, 10, 20])).toBe(20);
  expect(findMedian([40, 10, 20, 30])).toBe(25);
  expect(findMedian([])).toBeUndefined();
});

test('slots share the runs, and the last round counts whole', () => {
  const work = (runs: number) => [
    { runs: runs / 2, durationMs: 50_000, cores: 6 },
    { runs: runs / 2, durationMs: 150_000, cores: 8 },
  ];
  // 48 runs of 100 s on average: 12 rounds of 4 slots, and 13 rounds for two more runs.
  expect(estimateTime(work(48), 4)).toBe(1_200_000);
  expect(estimateTime(work(50), 4)).toBe(1_300_000);
  // 24 runs of 50 s on 6 cores, and as many of 150 s on 8 cores.
  expect(estimateCoreHours(work(48))).toBeCloseTo((24 * 50 * 6 + 24 * 150 * 8) / 3600);
});
