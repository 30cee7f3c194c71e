import { expect, test } from 'vitest';
import { formatDuration } from './format-quantity.ts';

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1_000, '1.0 s'],
  [2_190, '2.1 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [200_000, '3 min 20 s'],
  [3_600_000, '1 h'],
  [86_400_000 + 4 * 3_600_000, '1 d 4 h'],
])('%d milliseconds are %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
