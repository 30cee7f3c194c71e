/** Batches with ensembles on a server that is killed: real processes, SIGKILL. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import { isExperimentTerminal } from '@switchyard/contract/states.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createArithmeticApplication,
  createArithmeticEnsemble,
} from '../../testing/fixtures/batch-ensembles.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { type ServerProcess, startServerProcess } from '../../testing/servers/server-process.ts';

let data: string;
let server: ServerProcess;
const start = () => startServerProcess({ dataFolder: data, env: { SWITCHYARD_CAPACITY: '2' } });

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'switchyard-killed-ensembles-'));
  server = await start();
});
afterAll(async () => {
  await server.kill();
  rmSync(data, { recursive: true, force: true });
});

const params = { application_id: 'app' };
const batch_id = 'killed' as ExperimentId;
const fetchBatch = async () =>
  (await server.client.call('getBatchExperimentMetadata', { params: { ...params, batch_id } })).body;

test('a killed server starts every child run once, by the definition at the creation of the batch', async () => {
  await createArithmeticApplication(server, [1, 2]);
  await createArithmeticEnsemble(server, 'pair', { low: { factor: '3' }, high: { factor: '5' } });
  const repetitions = Array.from({ length: 20 }, (_, repetition) => ({ ensemble_id: 'pair', repetition }));
  const body = { id: batch_id, name: 'Killed', input_set_id: 'sizes', runs: repetitions };
  await server.client.call('createBatchExperiment', { params, body });
  await server.client.call('deleteEnsemble', { params: { ...params, ensemble_id: 'pair' } });
  await createArithmeticEnsemble(server, 'pair', { only: { factor: '1' } });
  for (const minimum of [0, 5, 15]) {
    await waitUntil(
      `${minimum} ensemble runs end`,
      async () => (await fetchBatch()).number_of_completed_runs >= minimum,
    );
    await server.kill();
    server = await start();
  }
  await waitUntil('the end of the batch', async () => isExperimentTerminal((await fetchBatch()).status));
  const { body: ended } = await server.client.call('getBatchExperiment', { params: { ...params, batch_id } });
  expect(ended).toMatchObject({
    status: 'completed',
    number_of_runs: 40,
    number_of_completed_runs: 40,
    number_of_failed_runs: 0,
  });
  // Sizes 1 and 2 with the factor 3 of the deleted definition.
  const [summary] = ended.grouped_distributional_summaries;
  expect(summary?.indicator_distributions['result.value']).toMatchObject({ count: 40, mean: 4.5 });
  const children = await Promise.all(
    ended.runs.map(async ({ id: run_id }) => {
      const { body: run } = await server.client.call('getRunEnsemble', { params: { ...params, run_id } });
      return run.child_runs.map(({ run_group_id }) => run_group_id);
    }),
  );
  expect(children).toEqual(new Array(40).fill(['low', 'high']));
});
