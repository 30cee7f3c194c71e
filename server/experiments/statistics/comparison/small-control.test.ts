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
