/** Runs of a batch experiment: how they are counted from the start, told apart and listed. */
import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  batchExperimentPath,
  createBatchExperiment,
  createExperimentApplication,
  waitForBatchEnd,
} from '../../testing/fixtures/batch-experiments.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let inputs: string[];
beforeAll(async () => {
  server = await startTestServer();
  inputs = await createExperimentApplication(server, 'app', { plain: {}, double: { factor: '2' } }, [
    { size: 1 },
    { size: 2 },
  ]);
});
afterAll(() => server.close());

const get = async (path: string): Promise<unknown> => {
  const answer = await server.request('GET', batchExperimentPath('app', path));
  expectStatus(answer, 200);
  return answer.body;
};

describe('runs of a batch', () => {
  const requested = (run: object) => ({ instance_id: 'plain', input_id: inputs[0], ...run });

  test.each([
    ['a batch', () => ({ input_set_id: 'sizes', instance_ids: ['plain', 'double'] }), 4],
    [
      'a scenario test',
      () => ({
        type: 'scenario',
        input_set_id: 'sizes',
        runs: [requested({ scenario_id: 'a' }), requested({ scenario_id: 'b' })],
      }),
      2,
    ],
  ])('C5: are counted right after %s was created', async (_, body, runs) => {
    const made = await createBatchExperiment(server, 'app', body());
    const [first, full] = await Promise.all([get(`/${made.id}/metadata`), get(`/${made.id}`)]);
    for (const one of [made, first, full]) expect(one).toMatchObject({ number_of_runs: runs });
    expect(await waitForBatchEnd(server, 'app', made.id)).toMatchObject({ number_of_runs: runs });
  });

  test('C5: are counted right after an acceptance test created the batch', async () => {
    const answer = await server.request('POST', '/v1/applications/app/experiments/acceptance', {
      body: {
        id: 'counted',
        name: 'Counted',
        control: { instance_id: 'plain' },
        candidate: { instance_id: 'double' },
        metrics: [
          {
            field: 'result.value',
            statistic: 'mean',
            metric_type: 'direct-comparison',
            params: { operator: 'le' },
          },
        ],
        input_set_id: 'sizes',
      },
    });
    expectStatus(answer, 201);
    expect(await get('/counted/metadata')).toMatchObject({ number_of_runs: 4 });
  });

  test.each([
    ['run_number alone', [{ run_number: '1' }, { run_number: '2' }, { run_number: 'b' }], [0, 1, 2]],
    [
      'run_number beside the same repetition',
      [
        { repetition: 1, run_number: '7' },
        { repetition: 1, run_number: '8' },
      ],
      [1, 0],
    ],
    ['a run_number on one of them', [{}, { run_number: '1' }], [0, 1]],
    [
      'a run_number for each run, as the published client counts them',
      [
        { repetition: 0, run_number: '1' },
        { repetition: 1, run_number: '2' },
      ],
      [0, 1],
    ],
  ])('C6: that differ in %s are repetitions', async (_, runs, repetitions) => {
    const made = await createBatchExperiment(server, 'app', {
      input_set_id: 'sizes',
      runs: runs.map(requested),
    });
    const over = await waitForBatchEnd(server, 'app', made.id);
    expect(over.runs.map((run) => run.repetition).sort()).toEqual(repetitions.sort());
  });

  test('C6: with the same run_number are refused', async () => {
    const body = {
      id: 'twice-the-same',
      name: 'Any name',
      input_set_id: 'sizes',
      runs: ['1', '1'].map((run_number) => requested({ run_number })),
    };
    const answer = await server.request('POST', batchExperimentPath('app'), { body });
    expectError(answer, 400, 'runs.1 requests the same run as runs.0', 'run_number');
  });

  test('D7: always have option_set and scenario_id, null without one', async () => {
    const made = await createBatchExperiment(server, 'app', {
      input_set_id: 'sizes',
      option_sets: { more: {} },
      runs: [requested({}), requested({ option_set: 'more', scenario_id: 'a', repetition: 1 })],
    });
    await waitForBatchEnd(server, 'app', made.id);
    const { runs } = (await get(`/${made.id}/runs`)) as { runs: ExperimentRun[] };
    const places = runs.map(({ option_set, scenario_id, repetition, input_set_id }) => ({
      option_set,
      scenario_id,
      repetition,
      input_set_id,
    }));
    expect(places.sort((a, b) => Number(a.repetition) - Number(b.repetition))).toEqual([
      { option_set: null, scenario_id: null, repetition: 0, input_set_id: 'sizes' },
      { option_set: 'more', scenario_id: 'a', repetition: 1, input_set_id: 'sizes' },
    ]);
  });
});
