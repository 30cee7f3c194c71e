/** Reasons for runs without a value in acceptance tests, and the order of groups that puts the control first. Pure. */
import type { InstanceId, RunId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { describe, expect, test } from 'vitest';
import type { RunFailure } from '../../runs/store/failures.ts';
import type { Observation } from '../statistics/observations.ts';
import { type BatchDefinition, orderControlFirst } from '../store/batch-definition.ts';
import { collectSideRuns, explainLostRuns, explainMissingValues } from './acceptance-reasons.ts';

const createRun = (status: string, value?: unknown): Observation => ({
  instance_id: 'new',
  version_id: 'v2',
  input_id: 'one',
  option_set: null,
  scenario_id: null,
  repetition: 0,
  status,
  indicators: value === undefined ? [] : [{ name: 'cost', value }],
});
const createFailure = (overrides: Partial<RunFailure> = {}): RunFailure => ({
  instance_id: 'new',
  version_id: 'v2',
  error: 'No licence.',
  run_id: 'run-1' as RunId,
  number_of_runs: 2,
  ...overrides,
});
const createSide = (version_id = '') => ({
  instance_id: 'new' as InstanceId,
  version_id: version_id as VersionId,
});
const collectRuns = (runs: Observation[], failures: RunFailure[] = [], version = '') =>
  collectSideRuns('candidate', createSide(version), runs, failures);
const CANDIDATE = 'of the candidate (instance "new")';

describe('B14: reasons for failed and canceled runs', () => {
  test.each<[string, Observation[], RunFailure[], string[]]>([
    ['none', [createRun('succeeded', 1)], [], []],
    [
      'all failed alike',
      [createRun('failed'), createRun('failed')],
      [createFailure()],
      [`All 2 runs ${CANDIDATE} failed. The first error, the same in 2 runs: "No licence." (run-1).`],
    ],
    [
      'one of several failed',
      [createRun('failed'), createRun('succeeded', 1)],
      [createFailure({ number_of_runs: 1 })],
      [`1 of 2 runs ${CANDIDATE} failed. The first error, of one run: "No licence." (run-1).`],
    ],
    ['the only run was canceled', [createRun('canceled')], [], [`The only run ${CANDIDATE} was canceled.`]],
    [
      'some failed, some were canceled',
      [createRun('failed'), createRun('canceled'), createRun('canceled')],
      [createFailure({ number_of_runs: 1 })],
      [
        `1 of 3 runs ${CANDIDATE} failed. The first error, of one run: "No licence." (run-1).`,
        `2 of 3 runs ${CANDIDATE} were canceled.`,
      ],
    ],
    [
      'the first of several errors is not the most frequent',
      [createRun('failed'), createRun('failed'), createRun('failed')],
      [createFailure({ error: 'First.', number_of_runs: 1 }), createFailure()],
      [`All 3 runs ${CANDIDATE} failed. The first error, of one run: "First." (run-1).`],
    ],
    [
      'runs could not be submitted',
      [createRun('failed'), createRun('failed')],
      [createFailure({ run_id: null })],
      [
        `All 2 runs ${CANDIDATE} failed. The first error, the same in 2 runs: "No licence." (the runs could not be submitted).`,
      ],
    ],
    [
      'errors of the other side are not quoted',
      [createRun('failed')],
      [createFailure({ instance_id: 'old' })],
      [`The only run ${CANDIDATE} failed.`],
    ],
    ['a queued run has no reason', [createRun('queued')], [], []],
  ])('%s', (_, runs, failures, reasons) => {
    expect(explainLostRuns(collectRuns(runs, failures))).toEqual(reasons);
  });

  test('a side with a version does not quote errors of other versions', () => {
    expect(explainLostRuns(collectRuns([createRun('failed')], [createFailure()], 'v1'))).toEqual([
      `The only run ${CANDIDATE} failed.`,
    ]);
  });

  test('a long error is truncated', () => {
    const [reason = ''] = explainLostRuns(
      collectRuns([createRun('failed')], [createFailure({ error: 'x'.repeat(2000) })]),
    );
    expect(reason.length).toBeLessThan(450);
  });
});

describe('B13: reason for a side that does not report the indicator', () => {
  test.each<[string, Observation[], RegExp | null]>([
    [
      'no value',
      [createRun('succeeded')],
      /^The only run .* succeeded, and none reported a number as cost\.$/,
    ],
    [
      'a text',
      [createRun('succeeded', 'nan'), createRun('succeeded', 'nan')],
      /^All 2 runs .* succeeded, and none/,
    ],
    [
      'no value, and one run failed',
      [createRun('succeeded'), createRun('failed')],
      /^1 of 2 runs .* succeeded, and none/,
    ],
    ['one number', [createRun('succeeded', 1), createRun('succeeded')], null],
    ['no value, because all runs failed', [createRun('failed')], null],
    ['no value, because there are no runs', [], null],
  ])('%s', (_, runs, expected) => {
    const reason = explainMissingValues(collectRuns(runs), 'cost');
    if (expected === null) expect(reason).toBe(null);
    else expect(reason).toMatch(expected);
  });
});

describe('B15: the control is the first group', () => {
  const definition: BatchDefinition = {
    input_set_id: 'inputs',
    instance_ids: ['new', 'old', 'devint'],
    option_sets: {},
    objectives: null,
    order: {
      instances: ['new', 'old', 'devint'],
      versions: ['v2', 'v1'],
      option_sets: [],
      scenarios: [],
      inputs: [],
    },
    versions: {},
    hidden: {},
    run_order: { design: 'randomized-blocks', seed: 's' },
  };
  const v2First = ['v2', 'v1'];
  test.each([
    ['an instance', ['old', ''], { instances: ['old', 'new', 'devint'], versions: v2First }],
    [
      'an instance that is first already',
      ['new', ''],
      { instances: ['new', 'old', 'devint'], versions: v2First },
    ],
    ['latest under its older id', ['latest', ''], { instances: ['devint', 'new', 'old'], versions: v2First }],
    ['a version', ['new', 'v1'], { instances: ['new', 'old', 'devint'], versions: ['v1', 'v2'] }],
    [
      'a version that the batch does not name',
      ['old', 'v0'],
      { instances: ['old', 'new', 'devint'], versions: ['v0', 'v2', 'v1'] },
    ],
  ])('%s', (_, [instanceId, versionId], expected) => {
    const control = { instance_id: instanceId as InstanceId, version_id: versionId as VersionId };
    expect(orderControlFirst(definition, control).order).toMatchObject(expected);
  });
});
