/** T7: values of 0 among others, which have no ratio. */
import { expect, test } from 'vitest';
import { compareValues } from '../../../testing/fixtures/paired-runs.ts';

const CONTROL = Array.from({ length: 12 }, (_, index) => 100 * (index + 1));
const WORSE = CONTROL.map((value, index) => value * (1.04 + index / 1000));
const replaceFirst = (values: readonly number[], first: number) => [first, ...values.slice(1)];

test('T7: a zero of both sides is a tie, and ratios stay ratios', () => {
  const found = compareValues(replaceFirst(CONTROL, 0), replaceFirst(WORSE, 0));
  expect(found).toMatchObject({ measure: 'relative', verdict: 'worse', inputs: { ties: 1, losses: 11 } });
  // The tie counts as a ratio of 1 among the twelve.
  const logarithms = WORSE.slice(1).map((value, index) => Math.log(value / (CONTROL[index + 1] ?? 0)));
  const sum = logarithms.reduce((total, one) => total + one, 0);
  expect(found.geometric_mean_ratio?.value).toBeCloseTo(Math.exp(sum / 12), 12);
  expect(found.warnings).toEqual([]);
});

test('T7: a zero of one side turns to differences, with a warning that names the input and the shift', () => {
  const found = compareValues(replaceFirst(CONTROL, 0), WORSE);
  expect(found.measure).toBe('absolute');
  expect(found.warnings[0]).toBe(
    'The control has the value 0 on "input-0": ratios do not exist, so the comparison is by differences, which large inputs dominate. A `shift` in the objective makes ratios of all.',
  );
  const shifted = compareValues(replaceFirst(CONTROL, 0), WORSE, { shift: 1 });
  expect(shifted.measure).toBe('relative');
  expect(shifted.warnings).toEqual([]);
});

test.each([
  ['a requested difference', CONTROL, { measure: 'absolute' as const }],
  ['an absolute margin', CONTROL, { margin: { type: 'absolute' as const, value: 1 } }],
  ['negative values', CONTROL.map((value, index) => (index === 5 ? -value : value)), {}],
  ['counts of rare events', CONTROL.map((value, index) => (index < 7 ? 0 : value)), {}],
])('%s has no such warning', (_, control, settings) => {
  const found = compareValues(replaceFirst(control, 0), WORSE, settings);
  expect(found.measure).toBe('absolute');
  expect(found.warnings.filter((text) => text.includes('shift'))).toEqual([]);
});
