/**
 * Runs that no live test may take for those of a caller of its baseline: what experiments and ensembles make, what belongs
 * to them, what another live test made or sent, and what runs elsewhere.
 */
import type { ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRun } from '../../testing/fixtures/apps.ts';
import { createOnlineTestApp, shadowCalls, waitForCandidate } from '../../testing/fixtures/online-tests.ts';
import { expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
let shadow: ReturnType<typeof shadowCalls>;
beforeAll(async () => {
  // No slot for runs: what is made stays queued.
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' } });
});
afterAll(() => server.close());
beforeEach(async () => {
  application = uniqueId('app');
  await createOnlineTestApp(server, application);
  shadow = shadowCalls(() => server, application);
});

async function post(path: string, body: object): Promise<void> {
  const answer = await server.request('POST', `/v1/applications/${application}${path}`, { body });
  expectStatus(answer, path.startsWith('/runs') ? 202 : 201);
}

/** Makes a batch on the baseline, a run that joins it, the run of an ensemble on the baseline, and an external run of it. */
async function makeOthers(): Promise<void> {
  await post('/experiments/inputsets', { id: 'inputs', name: 'Inputs', run_ids: [await make('candidate')] });
  await post('/ensembles', {
    id: 'both',
    name: 'Both',
    run_groups: [{ id: 'one', instance_id: 'baseline', repetitions: 2 }],
    rules: [{ id: 'value', statistics_path: 'result.value', objective: 'minimize', index: 0 }],
  });
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
  await post('/runs?instance_id=baseline', { configuration: { run_type: { type: 'external' } } });
  await server.waitUntil('runs-queued', async () => (await runs('baseline')).length === 7);
}

const make = (instance: string) => createRun(server, application, { instance, input: { cost: 1 } });

const runs = (instance: string) =>
  server.runningServer.database.read
    .selectFrom('runs')
    .select(['id', 'experiment_id', 'experiment_type', 'plan_unit_index', 'parent_run_id'])
    .where('application_id', '=', application as ApplicationId)
    .where('instance_id', '=', instance)
    .execute();

/** The copies on the instance, once there are any and no more are to come. */
const copiesOn = (instance: string) =>
  server.waitUntil('runs-queued', async () => {
    const { read } = server.runningServer.database;
    const [note] = await read.selectFrom('captured_runs').selectAll().execute();
    const [planned] = await read.selectFrom('planned_runs').selectAll().execute();
    const copies = (await runs(instance)).filter((run) => run.experiment_type === 'shadow');
    return copies.length > 0 && !note && !planned && copies;
  });

test('runs of a batch, joined, of an ensemble and external ones are not copied by a shadow test', async () => {
  await shadow.startTest();
  await makeOthers();
  const own = await make('baseline');
  expect((await copiesOn('candidate')).map((run) => run.parent_run_id)).toEqual([own]);
});

test('runs of a batch, joined, of an ensemble and external ones are served as asked in a switchback test', async () => {
  await waitForCandidate(() => server, application);
  await makeOthers();
  const own = await make('baseline');
  const sent = (await runs('candidate')).filter((run) => run.experiment_type === 'switchback');
  expect(sent).toEqual([expect.objectContaining({ id: own, plan_unit_index: 0 })]);
  expect((await runs('baseline')).map((run) => run.plan_unit_index)).toEqual(new Array(7).fill(null));
});

const FURTHER = { baseline_instance_id: 'candidate', candidate_instance_id: 'latest' };

test('a copy is not copied by the shadow test of which its instance is the baseline', async () => {
  await shadow.startTest();
  await shadow.startTest({ id: 'further', comparison: FURTHER });
  const original = await make('baseline');
  const [copy, ...more] = await copiesOn('candidate');
  expect([copy?.parent_run_id, more]).toEqual([original, []]);
  const own = await make('candidate');
  expect((await copiesOn('latest')).map((run) => run.parent_run_id)).toEqual([own]);
  expect(await copiesOn('candidate')).toEqual([copy]);
});

test('a run that a switchback test sends to an instance is its own: no shadow test of that instance copies it', async () => {
  const switchback = await waitForCandidate(() => server, application);
  await shadow.startTest({ id: 'further', comparison: FURTHER });
  const sent = await make('baseline');
  const own = await make('candidate');
  expect((await copiesOn('latest')).map((run) => run.parent_run_id)).toEqual([own]);
  expect(await runs('candidate')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: sent, experiment_id: switchback, experiment_type: 'switchback' }),
      expect.objectContaining({ id: own, experiment_id: null }),
    ]),
  );
});

test('a run that a switchback test sends to an instance is served there, whatever test that instance has', async () => {
  const first = await waitForCandidate(() => server, application);
  await waitForCandidate(() => server, application, FURTHER);
  const [sent, own] = [await make('baseline'), await make('candidate')];
  expect(await runs('candidate')).toEqual([expect.objectContaining({ id: sent, experiment_id: first })]);
  expect((await runs('latest')).map((run) => run.id)).toEqual([own]);
});
