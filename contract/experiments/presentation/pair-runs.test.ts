/** Pairs of runs by input. */
import { expect, test } from 'vitest';
import { createOriginalReader, type PairingSettings, pairRuns, readBatchInput } from './pair-runs.ts';
import { buildPairedRun } from './testing/build-paired-run.ts';

const GROUP = { version_id: 'v1' };
const SETTINGS: PairingSettings = {
  control: { ...GROUP, instance_id: 'old' },
  candidate: { ...GROUP, instance_id: 'new' },
  indicator: 'result.value',
  measure: 'relative',
  shift: 0,
  readInput: readBatchInput,
};

test('pairs the runs of an input over their repetitions, largest decrease first', () => {
  const runs = [
    buildPairedRun('old', 'monday', 100),
    buildPairedRun('new', 'monday', 110),
    buildPairedRun('old', 'tuesday', 10),
    buildPairedRun('old', 'tuesday', 30, { repetition: 1 }),
    buildPairedRun('new', 'tuesday', 12),
    buildPairedRun('new', 'tuesday', 24, { repetition: 1 }),
    buildPairedRun('old', 'unpaired', 5),
    buildPairedRun('new', 'monday', 1, { option_set: 'other' }),
  ];
  const [tuesday, monday, ...others] = pairRuns(runs, SETTINGS);
  expect(others).toEqual([]);
  // Means of 20 and 18: a change of -10 %.
  expect(tuesday).toMatchObject({ input: 'tuesday', control: 20, candidate: 18, failed: null });
  expect(tuesday?.change).toBeCloseTo(-0.1, 12);
  expect(monday?.change).toBeCloseTo(0.1, 12);
  expect(monday?.runs).toEqual({ control: 'old monday 0', candidate: 'new monday 0' });
});

test('an input on which one side failed is last, and one on which a run was canceled is absent', () => {
  const runs = [
    buildPairedRun('old', 'a', 1),
    buildPairedRun('new', 'a', null),
    buildPairedRun('old', 'b', 4),
    buildPairedRun('new', 'b', 8),
    buildPairedRun('old', 'c', 4),
    buildPairedRun('new', 'c', 8, { status_v2: 'canceled' }),
  ];
  const pairs = pairRuns(runs, { ...SETTINGS, measure: 'absolute' });
  expect(pairs.map(({ input, change, failed }) => [input, change, failed])).toEqual([
    ['b', 4, null],
    ['a', null, 'candidate'],
  ]);
});

test('flags count as 1 and 0, and a shift is added before the ratio', () => {
  const flags = [buildPairedRun('old', 'a', true), buildPairedRun('new', 'a', false)];
  expect(pairRuns(flags, { ...SETTINGS, measure: 'absolute' })[0]?.change).toBe(-1);
  const times = [buildPairedRun('old', 'a', 0), buildPairedRun('new', 'a', 5)];
  expect(pairRuns(times, SETTINGS)[0]?.change).toBeNull();
  expect(pairRuns(times, { ...SETTINGS, shift: 10 })[0]?.change).toBeCloseTo(0.5, 12);
});

test('the copies of a shadow test pair with their originals', () => {
  const copy = {
    id: 'copy',
    experiment_id: 'test',
    run_type: { definition_id: null, reference_id: 'old a 0' },
  };
  const pairs = pairRuns([buildPairedRun('old', 'a', 2), buildPairedRun('new', '', 1, copy)], {
    ...SETTINGS,
    readInput: createOriginalReader('test'),
  });
  expect(pairs).toMatchObject([
    { input: 'old a 0', change: -0.5, runs: { control: 'old a 0', candidate: 'copy' } },
  ]);
});
