import { expect, test } from 'vitest';
import { describeChange } from './format-change.ts';
import { formatBytes, formatDuration } from './format-quantity.ts';

test.each<[string, number, number, Parameters<typeof describeChange>[2], string]>([
  ['a cost by its share', 86_730, 84_210, { unit: '€' }, '▼ −2.9\u00a0%'],
  ['a count of a few by a count', 2, 3, {}, '▲ +1'],
  ['a count with a unit by a count', 14, 12, { unit: 'bins' }, '▼ −2'],
  ['whole numbers of at most two digits by a count', 99, 50, {}, '▼ −49'],
  ['a number of three digits by its share', 100, 50, {}, '▼ −50\u00a0%'],
  ['a fraction by its share, however small', 2.5, 2.6, {}, '▲ +4\u00a0%'],
  ['negative counts by a count', -4, -5, {}, '▼ −1'],
  ['a negative cost by the share of its amount', -200, -100, {}, '▲ +50\u00a0%'],
  ['a baseline of 0 by the difference', 0, 1234.5, {}, '▲ +1,235'],
  ['a percentage by points', 4.7, 1.8, { unit: '%' }, '▼ −2.9\u00a0pp'],
  ['to a 6,144th by a share that is not all of it', 6_144, 1, {}, '▼ −99.98\u00a0%'],
  ['to nothing by all of it', 6_144, 0, {}, '▼ −100\u00a0%'],
  ['milliseconds by their share', 40, 20, { format: formatDuration }, '▼ −50\u00a0%'],
  ['bytes from 0 with their unit', 0, 2_000, { format: formatBytes }, '▲ +2\u00a0kB'],
])('changes %s', (_, before, after, measure, text) => {
  expect(describeChange(before, after, measure).text).toBe(text);
});

test('a change has its amount without a sign, for sentences', () => {
  expect(describeChange(5, 2)).toEqual({ amount: '3', signed: '−3', text: '▼ −3', isLess: true });
});

test.each([
  ['minimize', 1, 'better'],
  ['minimize', 3, 'worse'],
  ['maximize', 1, 'worse'],
  ['maximize', 3, 'better'],
  [null, 1, undefined],
] as const)('with the direction %s, a change of 2 to %d is %s', (direction, after, outcome) => {
  expect(describeChange(2, after, { direction }).outcome).toBe(outcome);
});
