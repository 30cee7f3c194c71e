/** What an acceptance test says of runs without a value, and which runs of its batch are the control. Pure. */
import type { InstanceId, RunId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { describe, expect, test } from 'vitest';
import type { RunFailure } from '../../runs/store/failures.ts';
import type { Observation } from '../statistics/observations.ts';
import { type BatchDefinition, orderControlFirst } from '../store/batch-definition.ts';
import { collectSideRuns, explainLostRuns, explainMissingValues } from './acceptance-reasons.ts';

const run = (status: string, value?: unknown): Observation => ({
  instance_id: 'new',
  version_id: 'v2',
  input_id: 'one',
  option_set: null,
  scenario_id: null,
  repetition: 0,
  status,
  indicators: value === undefined ? [] : [{ name: 'cost', value }],
});
const failure = (more: Partial<RunFailure> = {}): RunFailure => ({
  instance_id: 'new',
  version_id: 'v2',
  error: 'No licence.',
  run_id: 'run-1' as RunId,
  number_of_runs: 2,
  ...more,
});
const side = (version_id = '') => ({
  instance_id: 'new' as InstanceId,
  version_id: version_id as VersionId,
});
const of = (runs: Observation[], failures: RunFailure[] = [], version = '') =>
  collectSideRuns('candidate', side(version), runs, failures);
const WHO = 'of the candidate (instance "new")';

describe('B14: what is said of lost runs', () => {
  test.each<[string, Observation[], RunFailure[], string[]]>([
    ['none', [run('succeeded', 1)], [], []],
    [
      'all failed alike',
      [run('failed'), run('failed')],
      [failure()],
      [`All 2 runs ${WHO} failed. The first error, the same in 2 runs: "No licence." (run-1).`],
    ],
    [
      'one of several failed',
      [run('failed'), run('succeeded', 1)],
      [failure({ number_of_runs: 1 })],
      [`1 of 2 runs ${WHO} failed. The first error, of one run: "No licence." (run-1).`],
    ],
    ['the only run was canceled', [run('canceled')], [], [`The only run ${WHO} was canceled.`]],
    [
      'some failed, some were canceled',
      [run('failed'), run('canceled'), run('canceled')],
      [failure({ number_of_runs: 1 })],
      [
        `1 of 3 runs ${WHO} failed. The first error, of one run: "No licence." (run-1).`,
        `2 of 3 runs ${WHO} were canceled.`,
      ],
    ],
    [
      'the first of several errors is not the most frequent',
      [run('failed'), run('failed'), run('failed')],
      [failure({ error: 'First.', number_of_runs: 1 }), failure()],
      [`All 3 runs ${WHO} failed. The first error, of one run: "First." (run-1).`],
    ],
    [
      'runs could not be submitted',
      [run('failed'), run('failed')],
      [failure({ run_id: null })],
      [
        `All 2 runs ${WHO} failed. The first error, the same in 2 runs: "No licence." (the runs could not be submitted).`,
      ],
    ],
    [
      'the errors of the other side are not its own',
      [run('failed')],
      [failure({ instance_id: 'old' })],
      [`The only run ${WHO} failed.`],
    ],
    ['a run still waits', [run('queued')], [], []],
  ])('%s', (_, runs, failures, sentences) => {
    expect(explainLostRuns(of(runs, failures))).toEqual(sentences);
  });

  test('errors of another version of the instance are not those of a side with a version', () => {
    expect(explainLostRuns(of([run('failed')], [failure()], 'v1'))).toEqual([`The only run ${WHO} failed.`]);
  });

  test('a long error is shortened', () => {
    const [sentence = ''] = explainLostRuns(of([run('failed')], [failure({ error: 'x'.repeat(2000) })]));
    expect(sentence.length).toBeLessThan(450);
  });
});

describe('B13: what is said of a side that does not report the field', () => {
  test.each<[string, Observation[], RegExp | null]>([
    ['nothing', [run('succeeded')], /^The only run .* succeeded, and none reported a number as cost\.$/],
    ['a text', [run('succeeded', 'nan'), run('succeeded', 'nan')], /^All 2 runs .* succeeded, and none/],
    ['nothing, and one failed', [run('succeeded'), run('failed')], /^1 of 2 runs .* succeeded, and none/],
    ['a number once', [run('succeeded', 1), run('succeeded')], null],
    ['nothing, because all failed', [run('failed')], null],
    ['nothing, because there are no runs', [], null],
  ])('%s', (_, runs, sentence) => {
    const told = explainMissingValues(of(runs), 'cost');
    if (sentence === null) expect(told).toBe(null);
    else expect(told).toMatch(sentence);
  });
});

describe('B15: the control comes first', () => {
  const order = { instances: ['new', 'old', 'devint'], versions: ['v2', 'v1'] };
  test.each<[string, string, string, string[], string[]]>([
    ['an instance', 'old', '', ['old', 'new', 'devint'], ['v2', 'v1']],
    ['one that is first already', 'new', '', ['new', 'old', 'devint'], ['v2', 'v1']],
    ['latest under its old name', 'latest', '', ['devint', 'new', 'old'], ['v2', 'v1']],
    ['a version', 'new', 'v1', ['new', 'old', 'devint'], ['v1', 'v2']],
    ['a version that the batch did not name', 'old', 'v0', ['old', 'new', 'devint'], ['v0', 'v2', 'v1']],
  ])('%s', (_, instance_id, version_id, instances, versions) => {
    const control = { instance_id: instance_id as InstanceId, version_id: version_id as VersionId };
    const found = orderControlFirst({ order } as unknown as BatchDefinition, control);
    expect(found.order).toMatchObject({ instances, versions });
  });
});
