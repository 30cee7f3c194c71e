/**
 * Runs on the baseline that a shadow or switchback test must not copy or route: those of experiments and ensembles, external
 * runs, and runs that another test created or routed.
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
  // No slot for runs, so they stay queued.
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' } });
});
afterAll(() => server.close());
beforeEach(async () => {
  application = uniqueId('app');
  await createOnlineTestApp(server, application);
  shadow = shadowCalls(() => server, application);
});

async function post(path: string, body: object): Promise<void> {
  const response = await server.request('POST', `/v1/applications/${application}${path}`, { body });
  expectStatus(response, path.startsWith('/runs') ? 202 : 201);
}

/** Creates 7 runs on the baseline: of a batch, joined to the batch, of an ensemble, and external. */
async function submitUnroutedRuns(): Promise<void> {
  await post('/experiments/inputsets', {
    id: 'inputs',
    name: 'Inputs',
    run_ids: [await submitRun('candidate')],
  });
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
  await server.waitUntil('runs-queued', async () => (await listRuns('baseline')).length === 7);
}

const submitRun = (instance: string) => createRun(server, application, { instance, input: { cost: 1 } });

const listRuns = (instance: string) =>
  server.runningServer.database.read
    .selectFrom('runs')
    .select(['id', 'experiment_id', 'experiment_type', 'plan_unit_index', 'parent_run_id'])
    .where('application_id', '=', application as ApplicationId)
    .where('instance_id', '=', instance)
    .execute();

/** Waits until the instance has copies and none is pending, and returns them. */
const waitForCopies = (instance: string) =>
  server.waitUntil('runs-queued', async () => {
    const { read } = server.runningServer.database;
    const [captured] = await read.selectFrom('captured_runs').selectAll().execute();
    const [planned] = await read.selectFrom('planned_runs').selectAll().execute();
    const copies = (await listRuns(instance)).filter((run) => run.experiment_type === 'shadow');
    return copies.length > 0 && !captured && !planned && copies;
  });

test('a shadow test does not copy batch, joined, ensemble and external runs', async () => {
  await shadow.startTest();
  await submitUnroutedRuns();
  const own = await submitRun('baseline');
  expect((await waitForCopies('candidate')).map((run) => run.parent_run_id)).toEqual([own]);
});

test('a switchback test does not route batch, joined, ensemble and external runs', async () => {
  await waitForCandidate(() => server, application);
  await submitUnroutedRuns();
  const own = await submitRun('baseline');
  const routed = (await listRuns('candidate')).filter((run) => run.experiment_type === 'switchback');
  expect(routed).toEqual([expect.objectContaining({ id: own, plan_unit_index: 0 })]);
  expect((await listRuns('baseline')).map((run) => run.plan_unit_index)).toEqual(new Array(7).fill(null));
});

const SECOND_COMPARISON = { baseline_instance_id: 'candidate', candidate_instance_id: 'latest' };

test('the shadow test of a candidate does not copy copies', async () => {
  await shadow.startTest();
  await shadow.startTest({ id: 'second', comparison: SECOND_COMPARISON });
  const original = await submitRun('baseline');
  const [copy, ...more] = await waitForCopies('candidate');
  expect([copy?.parent_run_id, more]).toEqual([original, []]);
  const own = await submitRun('candidate');
  expect((await waitForCopies('latest')).map((run) => run.parent_run_id)).toEqual([own]);
  expect(await waitForCopies('candidate')).toEqual([copy]);
});

test('the shadow test of a candidate does not copy runs that a switchback test routed to it', async () => {
  const switchback = await waitForCandidate(() => server, application);
  await shadow.startTest({ id: 'second', comparison: SECOND_COMPARISON });
  const routed = await submitRun('baseline');
  const own = await submitRun('candidate');
  expect((await waitForCopies('latest')).map((run) => run.parent_run_id)).toEqual([own]);
  expect(await listRuns('candidate')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: routed, experiment_id: switchback, experiment_type: 'switchback' }),
      expect.objectContaining({ id: own, experiment_id: null }),
    ]),
  );
});

test('the switchback test of a candidate does not route runs that another one routed to it', async () => {
  const first = await waitForCandidate(() => server, application);
  await waitForCandidate(() => server, application, SECOND_COMPARISON);
  const [routed, own] = [await submitRun('baseline'), await submitRun('candidate')];
  expect(await listRuns('candidate')).toEqual([
    expect.objectContaining({ id: routed, experiment_id: first }),
  ]);
  expect((await listRuns('latest')).map((run) => run.id)).toEqual([own]);
});
