/** T13: a margin that is a share of a control mean near 0 has no size. */

import { describe, expect, test } from 'vitest';
import { compareValues, INDICATOR } from '../../../testing/fixtures/paired-runs.ts';
import { warnOfSmallControl } from './effect-scale.ts';

const RELATIVE = { type: 'relative', value: 0.01 } as const;

describe('T13: a relative margin', () => {
  // Mean 0.5 and standard error 0.5; Student's t with 3 degrees of freedom has the 97.5 % point 3.182446305.
  test('names the interval of a mean near 0', () => {
    expect(warnOfSmallControl(RELATIVE, [-0.7247448714, 0.5, 0.5, 1.7247448714], 'margin')).toEqual([
      'The mean of the control is near 0 (95\u00a0% interval −1.09 to 2.09), and the margin of 1\u00a0% is a share of it: give an absolute margin.',
    ]);
  });

  test.each([
    ['a mean far from 0', RELATIVE, [10, 11, 12, 13]],
    ['a negative mean far from 0', RELATIVE, [-10, -11, -12, -13]],
    ['an absolute margin', { type: 'absolute', value: 1 }, [-1, 1, -1, 1]],
    ['a margin of 0', { type: 'relative', value: 0 }, [-1, 1, -1, 1]],
    ['one value', RELATIVE, [0]],
  ])('needs no word for %s', (_, margin, values) => {
    expect(warnOfSmallControl(margin, values, 'margin')).toEqual([]);
  });

  const profits = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? 50 : -50) + index - 5.5);
  const move = (shift: (index: number) => number) => profits.map((value, index) => value + shift(index));
  const WARNING = expect.stringMatching(/^The mean of the control is near 0 .*: give an absolute margin\.$/);

  test('of 1 % is asked for as an absolute one where it decides', () => {
    const wobble = move((index) => (index % 3) - 1);
    const found = compareValues(profits, wobble, { margin: INDICATOR.margin });
    expect(found).toMatchObject({ verdict: 'undecided', measure: 'absolute' });
    expect(found.warnings).toContainEqual(WARNING);
    // The interval of the mean change lies within ±5.
    const absolute = compareValues(profits, wobble, { margin: { type: 'absolute', value: 5 } });
    expect(absolute).toMatchObject({ verdict: 'equivalent' });
    expect(absolute.warnings).not.toContainEqual(WARNING);
  });

  test('has no part in a verdict with a direction', () => {
    const found = compareValues(
      profits,
      move((index) => 10 + (index % 3)),
    );
    expect(found.verdict).toBe('worse');
    expect(found.warnings).not.toContainEqual(WARNING);
  });
});

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
