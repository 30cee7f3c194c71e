/** What is left out of the numbers of experiments that have too much to look at, and the sentences that say so. */
import { describe, expect, test } from 'vitest';
import { analyseBatch } from './batch-analysis.ts';
import { analyseShadowTest, analyseSwitchbackTest, type UnitObservation } from './online-test-analysis.ts';

const run = (
  instance_id: string,
  names: readonly string[] = [],
  more: Partial<UnitObservation> = {},
): UnitObservation => ({
  instance_id,
  version_id: 'v1',
  input_id: 'in',
  option_set: null,
  scenario_id: null,
  repetition: 0,
  status: 'succeeded',
  indicators: names.map((name) => ({ name, value: 1 })),
  ...more,
});
/** Indicators whose names are in the order of their numbers. */
const named = (count: number) =>
  Array.from({ length: count }, (_, index) => `result.custom.k${String(index).padStart(2, '0')}`);
const ORDER = { instances: ['a'], versions: [], option_sets: [], scenarios: [], inputs: [] };
const LAST = { 'result.custom.k50': 'maximize' } as const;
const FIRST = ['result.custom.k50', ...named(49)];
const OF_51 = 'Of 51 indicators the first 50 are compared; those that objectives names come first.';
const comparedOf = (groups: readonly { indicators: readonly { indicator: string }[] }[]) =>
  groups.map((one) => one.indicators.map(({ indicator }) => indicator));

describe('of a batch', () => {
  const ask = (objectives: Record<string, 'maximize'>, runs: UnitObservation[]) =>
    analyseBatch({ order: ORDER, objectives, seed: 's' }, runs);
  const both = (count: number) => [run('a', named(count)), run('b', named(count))];

  test('fifty indicators are compared, those with an objective first, and more are told', () => {
    expect(ask({}, both(50)).warnings).toEqual([]);
    const { comparisons, warnings } = ask(LAST, both(51));
    expect([comparedOf(comparisons), warnings]).toEqual([[FIRST], [OF_51]]);
  });

  test('a thousand comparisons are shared by the groups of runs', () => {
    const sets = (count: number) =>
      Array.from({ length: count }, (_, index) => run('a', named(4), { option_set: `s${index}` }));
    // 334 candidates have two each, 668 in all; with three each they would be 1,002.
    const { comparisons, warnings } = ask({}, sets(335));
    expect(comparedOf(comparisons)).toEqual(new Array(334).fill(named(2)));
    expect(warnings).toEqual([
      'Of 4 indicators the first 2 are compared; those that objectives names come first.',
    ]);
  });

  test('of more than a thousand groups the first are compared with the control, and more are told', () => {
    const sets = (count: number) =>
      Array.from({ length: count }, (_, index) => run('a', named(1), { option_set: `s${index}` }));
    const least = ask({}, sets(1001));
    expect([least.comparisons.length, least.warnings]).toEqual([1000, []]);
    const { comparisons, warnings } = ask({}, sets(1002));
    expect(comparisons.map(({ candidate }) => candidate.option_set)).toEqual(
      Array.from({ length: 1000 }, (_, index) => `s${index + 1}`),
    );
    expect(warnings).toEqual(['Of 1001 groups of runs the first 1000 are compared with the control.']);
  });
});

test('of a shadow test fifty indicators are compared, those with an objective first, and more are told', () => {
  const definition = { baseline: 'a', candidates: ['b'], maximumRuns: 1, from: null, until: null };
  const ask = (count: number, objectives: Record<string, 'maximize'>) =>
    analyseShadowTest({ kind: 'shadow', definition: { ...definition, objectives }, seed: 's' }, [
      run('a', named(count)),
      run('b', named(count)),
    ]);
  expect(ask(50, {}).warnings).toEqual([]);
  const { compared, warnings } = ask(51, LAST);
  expect([comparedOf(compared), warnings]).toEqual([[FIRST], [OF_51]]);
});

describe('of a switchback test', () => {
  const definition = {
    baseline: 'a',
    candidate: 'b',
    unitMinutes: 1,
    units: ['a', 'b'],
    seed: 's',
    start: 0,
    objectives: {},
  };
  const ask = (runs: UnitObservation[], objectives: Record<string, 'maximize'> = {}) =>
    analyseSwitchbackTest(
      { kind: 'switchback', definition: { ...definition, objectives }, endedUnits: 2 },
      runs,
    );

  test('fifty indicators are compared, those with an objective first, and more are told', () => {
    const runs = [run('a', named(51), { unit: 0 }), run('b', named(51), { unit: 1 })];
    const { compared, warnings } = ask(runs, LAST);
    expect([compared.map(({ indicator }) => indicator), warnings]).toEqual([FIRST, [OF_51]]);
  });

  test('the runs that are too many to look at are told', () => {
    const runs = new Array(50_000).fill(run('a', [], { unit: 0 }));
    expect(ask(runs).warnings).toEqual(['These are the numbers of its first 50000 runs.']);
    expect(ask(runs.slice(1)).warnings).toEqual([]);
  });
});
