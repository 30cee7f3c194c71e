/** Verdicts as sentences. */
import { expect, test } from 'vitest';
import type { Effect } from './effects.ts';
import { formatHeadline } from './headline.ts';

const NAMES = { control: 'old', candidate: 'new', indicator: 'result.value' };
const NOTHING: Effect = { measure: 'absolute', value: null, low: null, high: null, margin: null };
const EFFECT: Effect = { measure: 'absolute', value: -3, low: -5, high: -1, margin: null };

test.each([
  ['better', EFFECT, 'new is better than old in result.value: −3 (95\u00a0% interval −5 to −1).'],
  [
    'better',
    { ...EFFECT, adjustedFor: ['time_of_day', 'trend'] },
    'new is better than old in result.value: −3, adjusted for the time of day and a trend (95\u00a0% interval −5 to −1).',
  ],
  [
    'better',
    { ...EFFECT, isTotalOpen: true },
    'new is better than old in result.value: −3 (95\u00a0% interval −5 to −1), on the typical input; the total may not be.',
  ],
  [
    'undecided',
    { ...EFFECT, high: 2, isInterim: true },
    'The runs do not decide between new and old in result.value: −3 (interval at any look −5 to +2).',
  ],
  [
    'undecided',
    { ...NOTHING, isTotalOpen: true },
    'The runs do not decide between new and old in result.value.',
  ],
  ['lower', NOTHING, 'result.value of new is lower than that of old.'],
  ['same', { ...EFFECT, value: 0, low: null }, 'new and old tie in result.value: 0.'],
  ['equivalent', { ...EFFECT, low: null }, 'new and old are equivalent in result.value: −3.'],
  ['undecided', NOTHING, 'The runs do not decide between new and old in result.value.'],
])('%s is a sentence', (verdict, effect, text) => {
  expect(formatHeadline({ ...NAMES, verdict, effect })).toBe(text);
});
