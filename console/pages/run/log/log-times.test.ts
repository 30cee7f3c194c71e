import { expect, test } from 'vitest';
import { formatSinceStart, LogTimes } from './log-times.ts';

test('finds the time of each line', () => {
  const times = new LogTimes();
  expect(times.find(0)).toBeUndefined();
  times.add(100, 2);
  times.add(100);
  times.add(250);
  expect([0, 2, 3, 4].map((index) => times.find(index))).toEqual([100, 100, 250, undefined]);
});

test.each([
  [0, '00:00.000'],
  [1_250, '00:01.250'],
  [3_723_500, '1:02:03.500'],
  [-5, '00:00.000'],
])('formats %d ms since the start', (ms, text) => {
  expect(formatSinceStart(1_000_000 + ms, 1_000_000)).toBe(text);
});
