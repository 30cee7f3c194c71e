/** Runs that join a batch experiment: they carry its id, count in its totals, and delay its end. */
import type { BatchExperimentInfo } from '@switchyard/contract/experiments/batch-experiments.ts';
import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { createRun, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import {
  batchExperimentPath,
  createBatchExperiment,
  createExperimentApplication,
  waitForBatchEnd,
} from '../../testing/fixtures/batch-experiments.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
afterEach(() => server.close());

async function start(): Promise<void> {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '2' } });
  await createExperimentApplication(server, 'app', { plain: {} }, [{ size: 1 }, { size: 2 }]);
}
const buildBatch = (more: object = {}) => ({
  id: 'x',
  input_set_id: 'sizes',
  instance_ids: ['plain'],
  ...more,
});
const fetchMetadata = async (): Promise<BatchExperimentInfo> => {
  const response = await server.request('GET', batchExperimentPath('app', '/x/metadata'));
  expectStatus(response, 200);
  return response.body as BatchExperimentInfo;
};
const listRuns = async (): Promise<ExperimentRun[]> => {
  const response = await server.request('GET', batchExperimentPath('app', '/x/runs'));
  expectStatus(response, 200);
  return (response.body as { runs: ExperimentRun[] }).runs;
};

describe('a run that joins a batch experiment', () => {
  const buildJoin = (more: object = {}, instance = 'plain') => ({
    instance,
    input: { size: 10 },
    body: { batch_experiment_id: 'x', ...more },
  });

  test('carries the experiment id, is counted and delays the end, standard or external', async () => {
    await start();
    await createBatchExperiment(
      server,
      'app',
      buildBatch({ option_sets: { slow: { waits: 'true' } }, instance_ids: ['plain'] }),
    );
    const external = { configuration: { run_type: { type: 'external' } } };
    const externalRun = await createRun(server, 'app', { ...buildJoin(external), input: { size: 1 } });
    expect((await fetchMetadata()).number_of_requested_runs).toBe(3);
    const ownRuns = await server.waitUntil('runs-queued', async () => {
      const runs = (await listRuns()).filter((run) => run.option_set === 'slow');
      return runs.length === 2 && runs;
    });
    for (const run of ownRuns)
      expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${run.id}/cancel`), 204);
    const joinedRun = await createRun(server, 'app', buildJoin());
    expect(await waitForRunEnd(server, 'app', joinedRun)).toMatchObject({
      status_v2: 'succeeded',
      metadata: { experiment_id: 'x', experiment_type: 'batch' },
    });
    for (const run of ownRuns) await waitForRunEnd(server, 'app', run.id);
    expect(await fetchMetadata()).toMatchObject({
      status: 'started',
      number_of_requested_runs: 4,
      number_of_runs: 4,
      number_of_completed_runs: 3,
    });
    const result = await server.request('PUT', `/v1/applications/app/runs/${externalRun}`, {
      body: { result: { status: 'succeeded' } },
    });
    expectStatus(result, 200);
    const ended = await waitForBatchEnd(server, 'app', 'x');
    expect(ended).toMatchObject({ status: 'completed', number_of_completed_runs: 4 });
    const groups = ended.grouped_distributional_summaries.filter(({ group_keys }) => group_keys.length === 2);
    expect(groups[0]?.runs).toMatchObject({ total: 4, succeeded: 2, canceled: 2 });
    const response = await server.request('POST', '/v1/applications/app/runs?instance_id=plain', {
      body: buildJoin().body,
    });
    expectError(response, 400, 'batch_experiment_id is "x", which is completed');
  });

  test('is a 400 for an unknown or deleted experiment', async () => {
    await start();
    const expectRefused = async (batch_experiment_id: string) => {
      const response = await server.request('POST', '/v1/applications/app/runs', {
        body: { batch_experiment_id },
      });
      expectError(
        response,
        400,
        `batch_experiment_id is "${batch_experiment_id}"`,
        'has no such batch experiment',
      );
    };
    await expectRefused('x');
    await createBatchExperiment(server, 'app', buildBatch({ option_sets: { slow: { waits: 'true' } } }));
    expectStatus(await server.request('DELETE', batchExperimentPath('app', '/x')), 204);
    await expectRefused('x');
  });

  test('is counted exactly when fifty runs join concurrently', async () => {
    await start();
    await createBatchExperiment(
      server,
      'app',
      buildBatch({ option_sets: { slow: { waits: 'true' } }, instance_ids: ['plain'] }),
    );
    await Promise.all(Array.from({ length: 50 }, () => createRun(server, 'app', buildJoin())));
    expect(await fetchMetadata()).toMatchObject({ number_of_requested_runs: 52 });
    await server.waitUntil('runs-queued', async () => (await fetchMetadata()).number_of_runs === 52);
    for (const run of await listRuns())
      await server.request('PATCH', `/v1/applications/app/runs/${run.id}/cancel`);
    await waitForBatchEnd(server, 'app', 'x');
    expect(await fetchMetadata()).toMatchObject({ number_of_runs: 52, number_of_completed_runs: 52 });
  });
});
