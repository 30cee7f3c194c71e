import { expect, test } from 'vitest';
import { findLinesOfLevel } from './read-level.ts';

const LINES = [
  'INFO reading the input',
  '2026-05-04 WARNING: 3 stops have no window',
  'Warn: slow',
  'solver error: infeasible',
  'FATAL out of memory',
  'forewarned is forearmed',
  'Traceback (most recent call last):',
];

test.each([
  [undefined, undefined],
  ['warning', [1, 2, 3, 4, 6]],
  ['error', [3, 4, 6]],
] as const)('finds the lines of level %s', (level, indexes) => {
  expect(findLinesOfLevel(LINES, level)).toEqual(indexes);
});
