/** Runs that join a batch experiment: marked with it, counted by it, and waited for. */
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
const body = (more: object = {}) => ({ id: 'x', input_set_id: 'sizes', instance_ids: ['plain'], ...more });
const metadata = async (): Promise<BatchExperimentInfo> => {
  const answer = await server.request('GET', batchExperimentPath('app', '/x/metadata'));
  expectStatus(answer, 200);
  return answer.body as BatchExperimentInfo;
};
const runsOf = async (): Promise<ExperimentRun[]> => {
  const answer = await server.request('GET', batchExperimentPath('app', '/x/runs'));
  expectStatus(answer, 200);
  return (answer.body as { runs: ExperimentRun[] }).runs;
};

describe('a run that joins', () => {
  const join = (more: object = {}, instance = 'plain') => ({
    instance,
    input: { size: 10 },
    body: { batch_experiment_id: 'x', ...more },
  });

  test('is marked, counted and waited for, standard or external', async () => {
    await start();
    await createBatchExperiment(
      server,
      'app',
      body({ option_sets: { slow: { waits: 'true' } }, instance_ids: ['plain'] }),
    );
    const external = { configuration: { run_type: { type: 'external' } } };
    const waiting = await createRun(server, 'app', { ...join(external), input: { size: 1 } });
    expect((await metadata()).number_of_requested_runs).toBe(3);
    const own = await server.waitUntil('runs-queued', async () => {
      const runs = (await runsOf()).filter((run) => run.option_set === 'slow');
      return runs.length === 2 && runs;
    });
    for (const run of own)
      expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${run.id}/cancel`), 204);
    const joined = await createRun(server, 'app', join());
    expect(await waitForRunEnd(server, 'app', joined)).toMatchObject({
      status_v2: 'succeeded',
      metadata: { experiment_id: 'x', experiment_type: 'batch' },
    });
    for (const run of own) await waitForRunEnd(server, 'app', run.id);
    expect(await metadata()).toMatchObject({
      status: 'started',
      number_of_requested_runs: 4,
      number_of_runs: 4,
      number_of_completed_runs: 3,
    });
    const put = await server.request('PUT', `/v1/applications/app/runs/${waiting}`, {
      body: { result: { status: 'succeeded' } },
    });
    expectStatus(put, 200);
    const over = await waitForBatchEnd(server, 'app', 'x');
    expect(over).toMatchObject({ status: 'completed', number_of_completed_runs: 4 });
    const groups = over.grouped_distributional_summaries.filter((one) => one.group_keys.length === 2);
    expect(groups[0]?.runs).toMatchObject({ total: 4, succeeded: 2, canceled: 2 });
    const answer = await server.request('POST', '/v1/applications/app/runs?instance_id=plain', {
      body: join().body,
    });
    expectError(answer, 400, 'batch_experiment_id is "x", which is completed');
  }, 60_000);

  test('an experiment that is none, is another application’s, or is deleted is refused and changes nothing', async () => {
    await start();
    const refuse = async (batch_experiment_id: string) => {
      const answer = await server.request('POST', '/v1/applications/app/runs', {
        body: { batch_experiment_id },
      });
      expectError(
        answer,
        400,
        `batch_experiment_id is "${batch_experiment_id}"`,
        'has no such batch experiment',
      );
    };
    await refuse('x');
    await createBatchExperiment(server, 'app', body({ option_sets: { slow: { waits: 'true' } } }));
    expectStatus(await server.request('DELETE', batchExperimentPath('app', '/x')), 204);
    await refuse('x');
  });

  test('fifty at once are counted exactly', async () => {
    await start();
    await createBatchExperiment(
      server,
      'app',
      body({ option_sets: { slow: { waits: 'true' } }, instance_ids: ['plain'] }),
    );
    await Promise.all(Array.from({ length: 50 }, () => createRun(server, 'app', join())));
    expect(await metadata()).toMatchObject({ number_of_requested_runs: 52 });
    await server.waitUntil('runs-queued', async () => (await metadata()).number_of_runs === 52);
    for (const run of await runsOf())
      await server.request('PATCH', `/v1/applications/app/runs/${run.id}/cancel`);
    await waitForBatchEnd(server, 'app', 'x');
    expect(await metadata()).toMatchObject({ number_of_runs: 52, number_of_completed_runs: 52 });
  }, 60_000);
});
