/** Limits on the analysis of experiments: indicators, comparisons and runs that it omits, and the warnings about them. */
import { describe, expect, test } from 'vitest';
import { analyseBatch } from './batch-analysis.ts';
import { analyseShadowTest, analyseSwitchbackTest, type UnitObservation } from './online-test-analysis.ts';

const createRun = (
  instance_id: string,
  names: readonly string[] = [],
  overrides: Partial<UnitObservation> = {},
): UnitObservation => ({
  instance_id,
  version_id: 'v1',
  input_id: 'in',
  option_set: null,
  scenario_id: null,
  repetition: 0,
  status: 'succeeded',
  indicators: names.map((name) => ({ name, value: 1 })),
  ...overrides,
});
/** Indicators whose order by name is the order of their numbers. */
const listNames = (count: number) =>
  Array.from({ length: count }, (_, index) => `result.custom.k${String(index).padStart(2, '0')}`);
const ORDER = { instances: ['a'], versions: [], option_sets: [], scenarios: [], inputs: [] };
const LAST_NAME_OBJECTIVE = { 'result.custom.k50': 'maximize' } as const;
const COMPARED_NAMES = ['result.custom.k50', ...listNames(49)];
const WARNING_OF_51 = 'Of 51 indicators the first 50 are compared; those that objectives names come first.';
const listComparedNames = (groups: readonly { indicators: readonly { indicator: string }[] }[]) =>
  groups.map(({ indicators }) => indicators.map(({ indicator }) => indicator));

describe('a batch', () => {
  const analyse = (objectives: Record<string, 'maximize'>, runs: UnitObservation[]) =>
    analyseBatch(
      { order: ORDER, settings: { objectives }, planWarnings: [], progress: 'complete', seed: 's' },
      runs,
    );
  const createBothSides = (count: number) => [
    createRun('a', listNames(count)),
    createRun('b', listNames(count)),
  ];

  test('compares 50 indicators, those with an objective first, and warns of more', () => {
    expect(analyse({}, createBothSides(50)).warnings).toEqual([]);
    const { comparisons, warnings } = analyse(LAST_NAME_OBJECTIVE, createBothSides(51));
    expect([listComparedNames(comparisons), warnings]).toEqual([[COMPARED_NAMES], [WARNING_OF_51]]);
  });

  test('divides 1,000 comparisons among the groups of runs', () => {
    const createOptionSets = (count: number) =>
      Array.from({ length: count }, (_, index) => createRun('a', listNames(4), { option_set: `s${index}` }));
    // 334 candidates with two comparisons each are 668; with three each they would be 1,002.
    const { comparisons, warnings } = analyse({}, createOptionSets(335));
    expect(listComparedNames(comparisons)).toEqual(new Array(334).fill(listNames(2)));
    expect(warnings).toEqual([
      'Of 4 indicators the first 2 are compared; those that objectives names come first.',
    ]);
  });

  test('compares the first 1,000 groups with the control, and warns of more', () => {
    const createOptionSets = (count: number) =>
      Array.from({ length: count }, (_, index) => createRun('a', listNames(1), { option_set: `s${index}` }));
    const atLimit = analyse({}, createOptionSets(1001));
    expect([atLimit.comparisons.length, atLimit.warnings]).toEqual([1000, []]);
    const { comparisons, warnings } = analyse({}, createOptionSets(1002));
    expect(comparisons.map(({ candidate }) => candidate.option_set)).toEqual(
      Array.from({ length: 1000 }, (_, index) => `s${index + 1}`),
    );
    expect(warnings).toEqual(['Of 1001 groups of runs the first 1000 are compared with the control.']);
  });
});

test('a shadow test compares 50 indicators, those with an objective first, and warns of more', () => {
  const definition = {
    ...{ baseline: 'a', candidates: ['b'], maximumRuns: 1, from: null, until: null },
    ...{ sampleShare: 1, clusterBy: ['caller'] },
  };
  const analyse = (count: number, objectives: Record<string, 'maximize'>) =>
    analyseShadowTest(
      {
        kind: 'shadow',
        definition: { ...definition, objectives },
        seed: 's',
        progress: 'complete',
        copies: { planned: 1, deleted: 0 },
      },
      [createRun('a', listNames(count)), createRun('b', listNames(count))],
    );
  expect(analyse(50, {}).warnings).toEqual([]);
  const { compared, warnings } = analyse(51, LAST_NAME_OBJECTIVE);
  expect([listComparedNames(compared), warnings]).toEqual([[COMPARED_NAMES], [WARNING_OF_51]]);
});

describe('a switchback test', () => {
  const definition = {
    baseline: 'a',
    candidate: 'b',
    unitMinutes: 1,
    units: ['a', 'b'],
    seed: 's',
    start: 0,
    design: { kind: 'independent' as const, carryOverUnits: 0 },
    objectives: {},
  };
  const analyse = (runs: UnitObservation[], objectives: Record<string, 'maximize'> = {}) =>
    analyseSwitchbackTest(
      { kind: 'switchback', definition: { ...definition, objectives }, endedUnits: 2, progress: 'complete' },
      runs,
    );

  test('compares 50 indicators, those with an objective first, and warns of more', () => {
    const runs = [createRun('a', listNames(51), { unit: 0 }), createRun('b', listNames(51), { unit: 1 })];
    const { compared, warnings } = analyse(runs, LAST_NAME_OBJECTIVE);
    expect([compared.map(({ indicator }) => indicator), warnings]).toEqual([COMPARED_NAMES, [WARNING_OF_51]]);
  });

  test('warns when it has as many runs as it analyses', () => {
    const runs = new Array(50_000).fill(createRun('a', [], { unit: 0 }));
    expect(analyse(runs).warnings).toEqual(['These are the numbers of its first 50000 runs.']);
    expect(analyse(runs.slice(1)).warnings).toEqual([]);
  });
});
