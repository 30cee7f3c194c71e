import { expect, test } from 'vitest';
import type { OutcomePair } from '../paired/units.ts';
import { computeRoundEffect, NotPositiveError, type RoundScale } from './effects.ts';

const pair = (control: OutcomePair['control'], candidate: OutcomePair['candidate']) => ({
  control,
  candidate,
});
const ABSOLUTE: RoundScale = { measure: 'absolute', direction: 'minimize' };
const RELATIVE: RoundScale = { measure: 'relative', direction: 'minimize' };

test.for<{ title: string; pairs: OutcomePair[]; scale?: RoundScale; effect: number | null }>([
  { title: 'the mean difference', pairs: [pair(10, 13), pair(20, 21)], effect: 2 },
  {
    title: 'a smaller value of an indicator to maximise',
    pairs: [pair(10, 7)],
    scale: { measure: 'absolute', direction: 'maximize' },
    effect: 3,
  },
  { title: 'the mean log ratio', pairs: [pair(1, 2), pair(100, 50)], scale: RELATIVE, effect: 0 },
  { title: 'an input that the version lost', pairs: [pair(10, 1), pair(5, 'failed')], effect: Infinity },
  { title: 'an input that the good one lost', pairs: [pair(10, 90), pair('failed', 5)], effect: -Infinity },
  { title: 'as many lost as won', pairs: [pair('failed', 5), pair(5, 'failed'), pair(1, 2)], effect: 1 },
  { title: 'an input that both lost', pairs: [pair('failed', 'failed'), pair(1, 5)], effect: 4 },
  { title: 'nothing but failures of both', pairs: [pair('failed', 'failed')], effect: null },
  { title: 'a canceled run', pairs: [pair('canceled', 1), pair(3, 4)], effect: 1 },
  { title: 'nothing but canceled runs', pairs: [pair(1, 'canceled')], effect: null },
])('$title: $effect', ({ pairs, scale = ABSOLUTE, effect }) => {
  // Logarithms are rounded.
  const expected =
    typeof effect === 'number' && Number.isFinite(effect) ? expect.closeTo(effect, 12) : effect;
  expect(computeRoundEffect(pairs, scale)).toEqual({ state: 'ended', effect: expected });
});

test('a round with a pending run is pending', () => {
  expect(computeRoundEffect([pair(1, 2), pair(1, 'pending')], ABSOLUTE)).toEqual({ state: 'pending' });
});

test('a relative effect of a value of 0 is an error that names it', () => {
  expect(() => computeRoundEffect([pair(0, 2)], RELATIVE)).toThrow(NotPositiveError);
  expect(() => computeRoundEffect([pair(3, -2)], RELATIVE)).toThrow('-2');
});
