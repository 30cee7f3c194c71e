import { expect, test } from 'vitest';
import { formatStartRange } from './predicted-start.tsx';

const NOW = Date.UTC(2026, 10, 20, 8);
const toTime = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString();

test.each([
  [20, 185, 'in 20 s to 3 min 5 s'],
  [4.6, 7.4, 'in 5 s to 7 s'],
  [59.7, 60.2, 'in 1 min'],
  [0.4, 30, 'within 30 s'],
  [-10, 7200, 'within 2 h'],
  [-10, -1, 'at any moment'],
])('a start from %d s to %d s from now is %s', (earliest, latest, text) => {
  expect(formatStartRange({ earliest: toTime(earliest), latest: toTime(latest) }, NOW)).toBe(text);
});
