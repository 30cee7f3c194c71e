import { expect, test } from 'vitest';
import { findMatches, splitAtMatches } from './find-matches.ts';

test.each([
  ['', []],
  ['improved', [0, 2]],
  ['x'.repeat(99), []],
])('finds the lines with %j', (text, indexes) => {
  expect(findMatches(['Improved to 5', 'waiting', 'improved to 4'], text)).toEqual(indexes);
});

test.each([
  ['aXbxc', 'x', ['a', 'X', 'b', 'x', 'c']],
  ['xx', 'x', ['', 'x', '', 'x', '']],
  ['abc', '', ['abc']],
  ['a.c', '.', ['a', '.', 'c']],
  ['İx', 'x', ['İx']],
])('splits %j at %j', (line, text, parts) => {
  expect(splitAtMatches(line, text)).toEqual(parts);
});
