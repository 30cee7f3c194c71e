/** The order of rows by their values. */
import { expect, test } from 'vitest';
import { sortRows } from './sort-rows.ts';

const sort = (values: readonly (string | number | null)[], direction: 'ascending' | 'descending') =>
  sortRows(values, (value) => value, direction);

test.each([
  [
    [10, 9, 100],
    [9, 10, 100],
  ],
  [
    ['worker-10', 'worker-9'],
    ['worker-9', 'worker-10'],
  ],
  [
    ['b', 'Á', 'a'],
    ['a', 'Á', 'b'],
  ],
])('%j ascends as %j, and descends in reverse', (values, sorted) => {
  expect(sort(values, 'ascending')).toEqual(sorted);
  expect(sort(values, 'descending')).toEqual(sorted.toReversed());
});

test('rows without a value come last in both directions', () => {
  expect(sort([null, 2, 1], 'ascending')).toEqual([1, 2, null]);
  expect(sort([null, 1, 2], 'descending')).toEqual([2, 1, null]);
});
