import { expect, test } from 'vitest';
import { findPositions, splitAtMatches } from './find-matches.ts';

test.each([
  ['aXbxc', 'x', ['a', 'X', 'b', 'x', 'c']],
  ['xx', 'x', ['', 'x', '', 'x', '']],
  ['abc', '', ['abc']],
  ['a.c', '.', ['a', '.', 'c']],
  ['İx', 'x', ['İ', 'x', '']],
])('splits %j at %j', (line, text, parts) => {
  expect(splitAtMatches(line, text)).toEqual(parts);
});

test.each([
  [
    [1, 3, 5, 8],
    [3, 4, 8, 9],
    [1, 3],
  ],
  [[], [1], []],
  [[1], [], []],
])('finds in %j the positions of %j', (list, values, positions) => {
  expect(findPositions(list, values)).toEqual(positions);
});
