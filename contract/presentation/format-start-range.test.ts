import { expect, test } from 'vitest';
import { formatStartRange } from './format-start-range.ts';

const NOW = Date.UTC(2026, 10, 20, 8);
const toTime = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString();

test.each([
  [20, 185, 'in 20\u00a0s to 3\u00a0min\u00a05\u00a0s'],
  [4.6, 7.4, 'in 5\u00a0s to 7\u00a0s'],
  [59.7, 60.2, 'in 1\u00a0min'],
  [0.4, 30, 'within 30\u00a0s'],
  [-10, 7200, 'within 2\u00a0h'],
  [3720, 3720, 'in 1\u00a0h\u00a02\u00a0min'],
  [-10, -1, 'at any moment'],
])('W3: a start from %d s to %d s from now is %s', (earliest, latest, text) => {
  expect(formatStartRange({ earliest: toTime(earliest), latest: toTime(latest) }, NOW)).toBe(text);
});
