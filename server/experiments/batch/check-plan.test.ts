import { describe, expect, test } from 'vitest';
import { countUnitsToReject } from '../statistics/sample-size.ts';
import { checkPlan, type PlannedInput } from './check-plan.ts';

const createInputs = (side: string, count: number): PlannedInput[] =>
  Array.from({ length: count }, (_, index) => ({
    instance_id: side,
    version_id: '',
    option_set: null,
    scenario_id: null,
    content: `content ${index}`,
  }));
const plan = (sides: Readonly<Record<string, number>>): PlannedInput[] =>
  Object.entries(sides).flatMap(([side, count]) => createInputs(side, count));
const request = (
  settings: Partial<Parameters<typeof checkPlan>[0]['settings']> = {},
  optionSets: Record<string, Record<string, string>> = {},
) => ({
  settings: { objectives: null, ...settings },
  seeds: null,
  optionSets: new Map(Object.entries(optionSets)),
});

describe('the number of inputs that a verdict needs', () => {
  // The smallest two-sided p-value of n inputs is 2 / 2^n; 2^10 * 0.05 / 2 = 25.6 tests, 2^11: 51.2, 2^12: 102.4.
  // Above 20 inputs the error rate is 4 %: 2^21 * 0.04 / 2 = 41,943.04.
  test.each([
    [1, 10],
    [25, 10],
    [26, 11],
    [51, 11],
    [52, 12],
    [102, 12],
    [103, 13],
    [26_214, 20],
    [26_215, 21],
    [41_943, 21],
    [41_944, 22],
  ])('%i tests need %i inputs', (tests, inputs) => expect(countUnitsToReject(1 / tests)).toBe(inputs));
});

describe('a plan', () => {
  test.each([
    ['one side', { a: 3 }],
    ['two sides of ten inputs', { a: 10, b: 10 }],
    [
      'twenty candidates of ten inputs',
      Object.fromEntries(Array.from({ length: 21 }, (_, side) => [`s${side}`, 10])),
    ],
  ])('of %s has no warning', (_name, sides) => expect(checkPlan(request(), plan(sides))).toEqual([]));

  test('of nine inputs is warned about, with the number that works', () => {
    expect(checkPlan(request(), plan({ a: 9, b: 9 }))).toEqual([
      'The sides have at most 9 distinct inputs in common with the first side. A verdict with 1 candidate needs at least 10. Use an input set of at least 10 distinct inputs; repetitions and seeds do not replace inputs.',
    ]);
  });

  test('counts inputs of equal content once', () => {
    const inputs = plan({ a: 10, b: 10 }).map((one) =>
      one.content === 'content 9' ? { ...one, content: 'content 8' } : one,
    );
    expect(checkPlan(request(), inputs)).toHaveLength(1);
  });

  test('of 26 candidates needs eleven inputs', () => {
    const sides = Object.fromEntries(Array.from({ length: 27 }, (_, side) => [`s${side}`, 10]));
    expect(checkPlan(request(), plan(sides))[0]).toContain(
      'needs at least 11. Use an input set of at least 11',
    );
  });

  test('with one candidate on few inputs is warned about, and never refused', () => {
    const warnings = checkPlan(
      request({ primary: 'result.value', objectives: { 'result.value': 'minimize' } }),
      plan({ a: 10, b: 10, c: 4 }),
    );
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^1 of 2 candidates have at most 4 distinct inputs/);
  });

  test.each([
    ['primary', request({ primary: 'cost', objectives: { cost: 'minimize' } })],
    ['guardrails', request({ guardrails: ['cost'], objectives: { cost: 'minimize' } })],
    ['objectives.cost', request({ objectives: { cost: { direction: 'minimize' } } })],
    ['seeds', { ...request(), seeds: { option: 'seed', values: ['1', '2'] } }],
  ])('that can give no verdict is refused with %s', (field, body) => {
    expect(() => checkPlan(body, plan({ a: 9, b: 9 }))).toThrow(`${field} is given`);
    expect(checkPlan(body, plan({ a: 10, b: 10 }))).toEqual([]);
  });
});

describe('option sets', () => {
  const warn = (optionSets: Record<string, Record<string, string>>) =>
    checkPlan(request({}, optionSets), plan({ a: 10, b: 10 }));

  test('D15: that differ only in a seed are warned about', () => {
    expect(
      warn({ s1: { seed: '1', time: '5' }, s2: { time: '5', seed: '2' }, s3: { seed: '3', time: '5' } }),
    ).toEqual([
      'The option sets s1 and s2 differ only in seed, so they are compared with each other, as 1 more are. Give the values as seeds instead: then they are repetitions of each input.',
    ]);
    expect(warn({ a: { 'solve.random_seed': '1' }, b: { 'solve.random_seed': '2' } })).toHaveLength(1);
  });

  test.each([
    ['another option differs too', { a: { seed: '1', time: '5' }, b: { seed: '2', time: '6' } }],
    ['the option is no seed', { a: { iterations: '1' }, b: { iterations: '2' } }],
    ['there is one', { a: { seed: '1' } }],
    ['one has no seed', { a: { seed: '1' }, b: {} }],
  ])('are not warned about when %s', (_reason, optionSets: Record<string, Record<string, string>>) =>
    expect(warn(optionSets)).toEqual([]),
  );
});
