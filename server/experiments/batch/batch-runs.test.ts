/** Runs of a batch experiment: their count from the start, their repetitions and their labels. */
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
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

const getBatch = async (path: string): Promise<unknown> => {
  const response = await server.request('GET', batchExperimentPath('app', path));
  expectStatus(response, 200);
  return response.body;
};

describe('runs of a batch', () => {
  const requestRun = (run: object) => ({ instance_id: 'plain', input_id: inputs[0], ...run });

  test.each([
    ['a batch', () => ({ input_set_id: 'sizes', instance_ids: ['plain', 'double'] }), 4],
    [
      'a scenario test',
      () => ({
        type: 'scenario',
        input_set_id: 'sizes',
        runs: [requestRun({ scenario_id: 'a' }), requestRun({ scenario_id: 'b' })],
      }),
      2,
    ],
  ])('are counted right after %s was created', async (_, body, runs) => {
    const created = await createBatchExperiment(server, 'app', body());
    const [first, full] = await Promise.all([
      getBatch(`/${created.id}/metadata`),
      getBatch(`/${created.id}`),
    ]);
    for (const response of [created, first, full]) expect(response).toMatchObject({ number_of_runs: runs });
    expect(await waitForBatchEnd(server, 'app', created.id)).toMatchObject({ number_of_runs: runs });
  });

  test('are counted right after an acceptance test created the batch', async () => {
    const response = await server.request('POST', '/v1/applications/app/experiments/acceptance', {
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
    expectStatus(response, 201);
    expect(await getBatch('/counted/metadata')).toMatchObject({ number_of_runs: 4 });
  });

  test.each([
    ['run_number alone', [{ run_number: '1' }, { run_number: '2' }, { run_number: 'b' }], [0, 1, 2]],
    [
      'run_number, with the same repetition',
      [
        { repetition: 1, run_number: '7' },
        { repetition: 1, run_number: '8' },
      ],
      [1, 0],
    ],
    ['the presence of a run_number', [{}, { run_number: '1' }], [0, 1]],
    [
      'run_number and repetition, as the published client counts them',
      [
        { repetition: 0, run_number: '1' },
        { repetition: 1, run_number: '2' },
      ],
      [0, 1],
    ],
  ])('that differ in %s are repetitions', async (_, runs, repetitions) => {
    const created = await createBatchExperiment(server, 'app', {
      input_set_id: 'sizes',
      runs: runs.map(requestRun),
    });
    const ended = await waitForBatchEnd(server, 'app', created.id);
    expect(ended.runs.map((run) => run.repetition).sort()).toEqual(repetitions.sort());
  });

  test('with the same run_number get 400', async () => {
    const body = {
      id: 'twice-the-same',
      name: 'Any name',
      input_set_id: 'sizes',
      runs: ['1', '1'].map((run_number) => requestRun({ run_number })),
    };
    const response = await server.request('POST', batchExperimentPath('app'), { body });
    expectError(response, 400, 'runs.1 requests the same run as runs.0', 'run_number');
  });

  test('always have option_set and scenario_id, null where the request has none', async () => {
    const created = await createBatchExperiment(server, 'app', {
      input_set_id: 'sizes',
      option_sets: { more: {} },
      runs: [requestRun({}), requestRun({ option_set: 'more', scenario_id: 'a', repetition: 1 })],
    });
    await waitForBatchEnd(server, 'app', created.id);
    const { runs } = (await getBatch(`/${created.id}/runs`)) as { runs: ExperimentRun[] };
    const labels = runs.map(({ option_set, scenario_id, repetition, input_set_id }) => ({
      option_set,
      scenario_id,
      repetition,
      input_set_id,
    }));
    expect(labels.sort((a, b) => Number(a.repetition) - Number(b.repetition))).toEqual([
      { option_set: null, scenario_id: null, repetition: 0, input_set_id: 'sizes' },
      { option_set: 'more', scenario_id: 'a', repetition: 1, input_set_id: 'sizes' },
    ]);
  });

  test('are in every response of an ended batch as they are now, compressed or not', async () => {
    const created = await createBatchExperiment(server, 'app', {
      input_set_id: 'sizes',
      instance_ids: ['plain', 'double'],
    });
    const { runs } = await waitForBatchEnd(server, 'app', created.id);
    const [renamed, deleted] = runs.map(({ id }) => `/v1/applications/app/runs/${id}`) as [string, string];
    const read = async (): Promise<BatchExperiment> => {
      const bodies: unknown[] = [];
      for (const accepted of ['gzip', 'gzip', 'identity']) {
        const headers = { 'accept-encoding': accepted };
        const path = batchExperimentPath('app', `/${created.id}`);
        // After a change the first HEAD finds no cached body; the second one does.
        for (const method of ['HEAD', 'GET'] as const) {
          const response = await server.request(method, path, { headers });
          expect(response.headers.get('content-encoding')).toBe(accepted === 'gzip' ? 'gzip' : null);
          expect(response.headers.get('vary')).toContain('accept-encoding');
          if (method === 'GET') bodies.push(response.body);
        }
      }
      expect(bodies.slice(1)).toEqual([bodies[0], bodies[0]]);
      return bodies[0] as BatchExperiment;
    };
    expect((await read()).runs).toEqual(runs);
    expectStatus(await server.request('PUT', renamed, { body: { name: 'Monday' } }), 200);
    expect((await read()).runs).toEqual([{ ...runs[0], name: 'Monday' }, ...runs.slice(1)]);
    expectStatus(await server.request('DELETE', deleted), 204);
    const { runs: left, number_of_runs } = await read();
    expect([left.map(({ id }) => id), number_of_runs]).toEqual([
      runs.filter((_, index) => index !== 1).map(({ id }) => id),
      3,
    ]);
    const head = await server.request('HEAD', batchExperimentPath('app', `/${created.id}`));
    expect([head.status, head.text]).toEqual([200, '']);
  });
});
