/** Runs that no live test may take for those of a caller: what experiments and ensembles make, and what belongs to them. */
import { afterEach, describe, expect, test } from 'vitest';
import { createRun } from '../testing/apps.ts';
import { candidateServes, liveApp, shadowCalls } from '../testing/live-tests.ts';
import { expectStatus } from '../testing/resources.ts';
import { startTestServer, type TestServer } from '../testing/server.ts';

let server: TestServer;
afterEach(() => server.close());
const APP = '/v1/applications/app';

/** The application, an input set, and an ensemble of the baseline. */
async function start(): Promise<void> {
  // No slot for runs: what is made stays queued.
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' } });
  await liveApp(server);
  const made = await createRun(server, 'app', { instance: 'candidate', input: { cost: 1 } });
  await post('/experiments/inputsets', { id: 'inputs', name: 'Inputs', run_ids: [made] });
  await post('/ensembles', {
    id: 'both',
    name: 'Both',
    run_groups: [{ id: 'one', instance_id: 'baseline', repetitions: 2 }],
    rules: [{ id: 'value', statistics_path: 'result.value', objective: 'minimize', index: 0 }],
  });
}

async function post(path: string, body: object): Promise<void> {
  const answer = await server.ask('POST', `${APP}${path}`, { body });
  expectStatus(answer, path.startsWith('/runs') ? 202 : 201);
}

/** Makes a batch on the baseline, a run that joins it, and the run of an ensemble on the baseline. */
async function makeOthers(): Promise<void> {
  await post('/experiments/batch', {
    id: 'batch',
    name: 'Batch',
    input_set_id: 'inputs',
    instance_ids: ['baseline'],
    repetitions: 3,
  });
  await post('/runs?instance_id=baseline', { input: {}, batch_experiment_id: 'batch' });
  await post('/runs?instance_id=baseline', {
    input: {},
    configuration: { run_type: { type: 'ensemble', definition_id: 'both' } },
  });
  await server.until('runs-queued', async () => (await runs('baseline')).length === 6);
}

const runs = (instance: string) =>
  server.running.database.read
    .selectFrom('runs')
    .select(['id', 'instance_id', 'experiment_type', 'plan_unit_index', 'parent_run_id'])
    .where('instance_id', '=', instance)
    .execute();

describe('runs of a batch, those that join it, and those of an ensemble', () => {
  test('are not copied by a shadow test', async () => {
    await start();
    await shadowCalls(() => server).started();
    await makeOthers();
    const own = await createRun(server, 'app', { instance: 'baseline', input: {} });
    await server.until('runs-queued', async () => (await runs('candidate')).length > 1);
    const copies = (await runs('candidate')).filter((run) => run.experiment_type === 'shadow');
    expect(copies.map((run) => run.parent_run_id)).toEqual([own]);
    expect(await server.running.database.read.selectFrom('captured_runs').selectAll().execute()).toEqual([]);
  });

  test('are served as asked in a switchback test', async () => {
    await start();
    await candidateServes(() => server);
    await makeOthers();
    const own = await createRun(server, 'app', { instance: 'baseline', input: {} });
    const sent = (await runs('candidate')).filter((run) => run.experiment_type === 'switchback');
    expect(sent).toEqual([expect.objectContaining({ id: own, plan_unit_index: 0 })]);
    expect((await runs('baseline')).map((run) => run.plan_unit_index)).toEqual(new Array(6).fill(null));
  });
});
