/** Races with an ensemble as a configuration, whose server is killed: real processes, SIGKILL. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import { isExperimentTerminal } from '@switchyard/contract/states.ts';
import { expect, inject, test } from 'vitest';
import {
  createArithmeticApplication,
  createArithmeticEnsemble,
} from '../../testing/fixtures/batch-ensembles.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { startServerCluster } from '../../testing/servers/server-cluster.ts';
import { type ServerProcess, startServerProcess } from '../../testing/servers/server-process.ts';

const postgres = inject('postgres');
const params = { application_id: 'app', batch_id: 'race' as ExperimentId };
const SIZES = Array.from({ length: 12 }, (_, index) => index + 1);

/** Creates a race between the app, the app three times as large, and the best of two runs, which is 10 % better. */
async function createRace({ client, request }: ServerProcess): Promise<void> {
  const server = { client, request };
  await createArithmeticApplication(server, SIZES);
  await createArithmeticEnsemble(server, 'pair', { low: { factor: '0.9' }, high: { factor: '1.2' } });
  await client.call('createBatchExperiment', {
    params,
    body: {
      id: params.batch_id,
      name: 'Race',
      type: 'scenario',
      input_set_id: 'sizes',
      option_sets: { worse: { factor: '3' } },
      runs: [
        { instance_id: 'plain' },
        { ensemble_id: 'pair' },
        { instance_id: 'plain', option_set: 'worse' },
      ],
      objectives: { 'result.value': 'minimize' },
      racing: {},
    },
  });
}

const readMetadata = async ({ client }: ServerProcess) =>
  (await client.call('getBatchExperimentMetadata', { params })).body;
const waitForEndedRuns = (server: ServerProcess, minimum: number) =>
  waitUntil(
    `${minimum} runs end`,
    async () => (await readMetadata(server)).number_of_completed_runs >= minimum,
  );

/** Expects the race to end, with every run made once: ten inputs for all, and two more without the dropped configuration. */
async function expectWholeRace(server: ServerProcess): Promise<void> {
  await waitUntil('the end of the race', async () =>
    isExperimentTerminal((await readMetadata(server)).status),
  );
  const ended: BatchExperiment = (await server.client.call('getBatchExperiment', { params })).body;
  expect(ended).toMatchObject({
    status: 'completed',
    number_of_requested_runs: 36,
    number_of_runs: 34,
    number_of_completed_runs: 34,
    number_of_failed_runs: 0,
    racing: { inputs_planned: 12, configurations: 3, configurations_dropped: 1, runs_saved: 2 },
  });
  const [worse, pair] = ended.comparisons;
  expect(pair).toMatchObject({
    candidate: { instance_id: '', ensemble_id: 'pair' },
    racing: { status: 'finished', inputs: 12 },
  });
  expect(pair?.indicators[0]).toMatchObject({ verdict: 'better', inputs: { total: 12, wins: 12 } });
  expect(pair?.indicators[0]?.geometric_mean_ratio?.value).toBeCloseTo(0.9, 9);
  expect(worse).toMatchObject({
    candidate: { option_set: 'worse' },
    racing: { status: 'dropped', dropped_after_inputs: 10 },
  });
  const { runs } = (await server.request('GET', '/v1/applications/app/experiments/batch/race/runs'))
    .body as Pick<BatchExperiment, 'runs'>;
  const cells = runs.map(
    (run) => `${run.input_id} ${run.option_set ?? ''} ${run.run_type.definition_id ?? ''}`,
  );
  expect(cells).toHaveLength(34);
  expect(new Set(cells).size).toBe(34);
  for (const { id: run_id, run_type } of runs) {
    if (run_type.type !== 'ensemble') continue;
    const { body } = await server.client.call('getRunEnsemble', { params: { ...params, run_id } });
    expect(body.child_runs.map(({ run_group_id }) => run_group_id)).toEqual(['low', 'high']);
  }
}

test('a race whose server is killed loses no run, repeats none, and drops the same configuration', async () => {
  const data = mkdtempSync(join(tmpdir(), 'switchyard-killed-races-'));
  const start = () => startServerProcess({ dataFolder: data, env: { SWITCHYARD_CAPACITY: '2' } });
  let server = await start();
  await createRace(server);
  // In the middle of the first round, and at its end, while the second one is planned.
  for (const minimum of [4, 30]) {
    await waitForEndedRuns(server, minimum);
    await server.kill();
    server = await start();
  }
  await expectWholeRace(server);
  await server.kill();
  rmSync(data, { recursive: true, force: true });
});

test.runIf(postgres)('two servers and a worker race once, also when one server is killed', async () => {
  const cluster = await startServerCluster(postgres, `races_${process.pid}`);
  try {
    const first = await cluster.start('server');
    const second = await cluster.start('server');
    await cluster.start('worker');
    await createRace(first);
    await waitForEndedRuns(second, 4);
    await first.kill();
    await expectWholeRace(second);
  } finally {
    await cluster.close();
  }
});
