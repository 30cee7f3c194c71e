import { expect, test } from 'vitest';
import { readMeaning } from './indicator-meaning.ts';

const meaning = readMeaning({
  objective: { name: 'result.value', direction: 'minimize' },
  indicators: {
    'result.custom.late': { role: 'violation' },
    'result.custom.toll': { role: 'cost', unit: '€' },
    'result.custom.fill': { label: 'Fill', direction: 'maximize' },
    'result.custom.spare': { role: 'violation', direction: 'none' },
  },
  baseline_run_id: null,
});

test.each([
  ['result.value', 'Objective', 'minimize'],
  ['result.custom.late', 'late', 'minimize'],
  ['result.custom.toll', 'toll', 'minimize'],
  ['result.custom.fill', 'Fill', 'maximize'],
  ['result.custom.spare', 'spare', null],
  ['result.custom.stops', 'stops', null],
])('every page labels %s as %s with the direction %s, also without a label', (name, label, direction) => {
  expect(meaning.describe(name)).toMatchObject({ label, direction });
  expect(meaning.nameIndicator(name)).toBe(label);
});
