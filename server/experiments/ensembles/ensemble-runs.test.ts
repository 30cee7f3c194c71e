/** Ensemble runs through the API: start, progress, cancel and end. */
import { listPhases } from '@switchyard/contract/runs/presentation/list-phases.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterEach, expect, test } from 'vitest';
import { insertPlannedRuns, refusePlannedRun } from '../../runs/store/planned-runs.ts';
import { createRun, createRunAndWait, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import {
  createEnsemble,
  createEnsembleApp,
  ensembleRunOptions,
  ensembleRunType,
  fetchEnsembleRun,
  runGroup,
} from '../../testing/fixtures/ensembles.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
afterEach(() => server.close());

async function start(
  groups: Parameters<typeof createEnsembleApp>[1],
  { env = {} }: { env?: Record<string, string> } = {},
): Promise<void> {
  server = await startTestServer({ env });
  await createEnsembleApp(server, groups);
}
const fetchEnsemble = (run: string) => fetchEnsembleRun(server, run);
const fetchChildRuns = async (run: string) => (await fetchEnsemble(run)).child_runs;
/** Waits until `count` of its child runs have the status, and returns them. */
const waitForChildRuns = (
  run: string,
  status: string,
  count: number,
  topic: 'runs-queued' | 'log-lines' | 'runs-ended' = 'runs-ended',
) =>
  server.waitUntil(topic, async () => {
    const found = (await fetchChildRuns(run)).filter((one) => one.status_v2 === status);
    return found.length >= count ? found : null;
  });
/** Waits until a child run of the group `w` is running, and returns it. */
const waitForWaitingChild = (run: string) =>
  server.waitUntil('log-lines', async () =>
    (await fetchChildRuns(run)).find((one) => one.run_group_id === 'w' && one.status_v2 === 'running'),
  );

test('an ensemble run has the output, the statistics and the assets of its best run', async () => {
  await start([
    runGroup('first', { value: 10, n: 1 }),
    runGroup('second', { value: 10.5, n: 7 }, { repetitions: 2 }),
    runGroup('third', { value: 12, n: 9 }),
    runGroup('fourth', { fails: true }),
  ]);
  const done = await createRunAndWait(
    server,
    'app',
    ensembleRunOptions({ name: 'Best', description: 'Told', options: { common: 'yes', say: 'not this' } }),
  );
  expect(done).toMatchObject({
    name: 'Best',
    status: 'succeeded',
    status_v2: 'succeeded',
    error: '',
    application_instance_id: '',
    application_version_id: '',
    run_type: { type: 'ensemble', definition_id: 'best', reference_id: null },
    output: { solution: { hello: 'wörld', said: '{"value":10.5,"n":7}', common: 'yes' } },
    metadata: { statistics: { result: { value: 10.5 } }, options: { request_options: {} }, attempt: 0 },
  });
  expect(done.statistics.indicators).toContainEqual({ name: 'result.value', value: 10.5 });
  const listed = await Promise.all(
    ['best', 'other,best', 'other'].map(async (ensemble_id) => {
      const { body } = await server.client.call('listRuns', {
        params: { application_id: 'app' },
        query: { ensemble_id },
      });
      return body.runs.map(({ id }) => id);
    }),
  );
  expect(listed).toEqual([[done.id], [done.id], []]);
  const fetched = await fetchEnsemble(done.id);
  expect(fetched).toMatchObject({
    id: done.id,
    application_id: 'app',
    status_v2: 'succeeded',
    evaluation_type: 'rules',
    definition_id: 'best',
    requested_runs: 5,
  });
  expect(fetched.child_runs.map((one) => [one.run_group_id, one.repetition, one.status_v2])).toEqual([
    ['first', 0, 'succeeded'],
    ['second', 0, 'succeeded'],
    ['second', 1, 'succeeded'],
    ['third', 0, 'succeeded'],
    ['fourth', 0, 'failed'],
  ]);
  const ids = fetched.child_runs.map((one) => one.id);
  expect(fetched.rules_result?.best_run_id).toBe(ids[1]);
  expect(fetched.rules_result?.decisions.map((one) => [one.rule_id, one.best, one.kept])).toEqual([
    ['cost', 10, [ids[0], ids[1], ids[2]]],
    ['n', 7, [ids[1], ids[2]]],
  ]);
  expect(fetched.rules_result?.left_out).toEqual([
    { run_id: ids[4], run_group_id: 'fourth', repetition: 0, why: expect.stringContaining('exit code 3') },
  ]);
  const child = await waitForRunEnd(server, 'app', ids[0] ?? '');
  expect(child.run_type).toEqual({ type: 'standard', definition_id: null, reference_id: done.id });
  expect(child.metadata.options.request_options).toMatchObject({ common: 'yes' });

  const assets = await server.client.call('listRunAssets', {
    params: { application_id: 'app', run_id: done.id },
  });
  expect(assets.body.items).toHaveLength(1);
  // The ensemble run has its own copies, so its child runs can be deleted.
  for (const id of ids)
    expect((await server.request('DELETE', `/v1/applications/app/runs/${id}`)).status).toBe(204);
  const asset = await server.client.call('getRunAsset', {
    params: { application_id: 'app', run_id: done.id, asset_id: assets.body.items[0]?.id ?? '' },
  });
  expect(await (await fetch(asset.body.download_url)).json()).toEqual({ of: '{"value":10.5,"n":7}' });
  expect((await server.request('GET', `/v1/applications/app/runs/${done.id}/output`)).body).toMatchObject({
    output: { solution: { hello: 'wörld' } },
  });
  expect((await server.request('GET', `/v1/applications/app/runs/${done.id}/logs`)).status).toBe(200);
  expect(await fetchEnsemble(done.id)).toMatchObject({ child_runs: [], rules_result: fetched.rules_result });
  const events = await server.runningServer.database.read
    .selectFrom('run_events')
    .select('status')
    .where('run_id', '=', done.id as never)
    .orderBy('seq')
    .execute();
  expect(events.map((one) => one.status)).toEqual(['running', 'succeeded']);
});

test('an ensemble run fails when none of its child runs succeeds', async () => {
  await start([runGroup('a', { fails: true }), runGroup('b', { fails: true })]);
  const done = await createRunAndWait(server, 'app', ensembleRunOptions());
  expect(done.status_v2).toBe('failed');
  expect(done.error).toMatch(
    /^None of the 2 runs of the ensemble succeeded; of the first: It failed: .*exit code 3/,
  );
  expect(done.output ?? null).toBeNull();
  const { rules_result, error } = await fetchEnsemble(done.id);
  expect(error).toBe(done.error);
  expect(rules_result).toMatchObject({ best_run_id: null, decisions: [] });
  expect(rules_result?.left_out).toHaveLength(2);
});

test('without statistics the first child run of the first group is the best', async () => {
  await start([runGroup('a', {}), runGroup('b', {})]);
  const done = await createRunAndWait(server, 'app', ensembleRunOptions());
  const { child_runs, rules_result } = await fetchEnsemble(done.id);
  expect(rules_result?.best_run_id).toBe(child_runs[0]?.id);
  expect(rules_result?.decisions.map((one) => one.skipped)).toEqual([expect.any(String), expect.any(String)]);
});

test('an ensemble run uses no slot, and two slots execute its five child runs', async () => {
  await start([runGroup('a', { value: 1 }, { repetitions: 5 })], {
    env: { SWITCHYARD_CAPACITY: '6c9500mb870s=2' },
  });
  await createEnsemble(server, 'long', [runGroup('w', { waits: true }, { repetitions: 3 })]);
  const run = await createRun(server, 'app', ensembleRunOptions({ configuration: ensembleRunType('long') }));
  await waitForChildRuns(run, 'running', 2, 'log-lines');
  const queue = await server.client.call('getQueue');
  expect(queue.body.runs.map((one) => one.status_v2)).toEqual(['running', 'running', 'queued']);
  expect(queue.body.runs.map((one) => one.id)).not.toContain(run);
  expect(queue.body.runs[2]?.waiting?.message).toContain('All 2 slots');
  await server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`);
  expect((await waitForRunEnd(server, 'app', run)).status_v2).toBe('canceled');
  const five = await createRunAndWait(server, 'app', ensembleRunOptions());
  expect(five.status_v2).toBe('succeeded');
  expect((await fetchChildRuns(five.id)).map((one) => one.status_v2)).toEqual(Array(5).fill('succeeded'));
});

test('a run that must not wait starts while only an ensemble run is unfinished', async () => {
  await start([runGroup('a', { value: 1 })], { env: { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' } });
  const run = await createRun(server, 'app', ensembleRunOptions());
  const other = await server.request('POST', '/v1/applications/app/runs', {
    body: { input: {}, configuration: { execution_class: '8c16gb12h', queuing: { disabled: true } } },
  });
  expect(other.status).toBe(202);
  await server.request('DELETE', `/v1/applications/app/runs/${run}`);
});

test('a cancel request cancels child runs that run, are queued or are planned', async () => {
  await start([runGroup('w', { waits: true }, { repetitions: 5 })], {
    env: { SWITCHYARD_CAPACITY: '6c9500mb870s=2' },
  });
  const run = await createRun(server, 'app', ensembleRunOptions());
  const waits = await waitForWaitingChild(run);
  await waitForLogLine(server, 'app', waits.id, 'begun');
  expect((await fetchEnsemble(run)).rules_result).toBeUndefined();
  expect((await server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`)).status).toBe(204);
  const done = await waitForRunEnd(server, 'app', run);
  expect(done).toMatchObject({ status_v2: 'canceled', error: 'The run was canceled.' });
  expect((await fetchChildRuns(run)).map((one) => one.status_v2)).toEqual(Array(5).fill('canceled'));
  expect((await fetchEnsemble(run)).rules_result?.left_out).toHaveLength(5);
  expect((await server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`)).status).toBe(204);
  expect((await waitForRunEnd(server, 'app', run)).status_v2).toBe('canceled');
});

test('W2: an ensemble run runs from the start of its first child run', async () => {
  await start([runGroup('w', { waits: true }, { repetitions: 2 })], {
    env: { SWITCHYARD_CAPACITY: '6c9500mb870s=1' },
  });
  const run = await createRun(server, 'app', ensembleRunOptions());
  const readMetadata = async (id: string) =>
    (await server.client.call('getRunMetadata', { params: { application_id: 'app', run_id: id } })).body
      .metadata;
  const listPhaseNames = async () => listPhases(await readMetadata(run), Date.now()).map(({ name }) => name);
  const child = await waitForWaitingChild(run);
  const readStart = async (id: string) => (await readMetadata(id)).initiated_at;
  expect(await readStart(run)).toBe(await readStart(child.id));
  expect(await listPhaseNames()).toEqual(['Waited', 'Running']);
  await server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`);
  await waitForRunEnd(server, 'app', run);
  const ofChild = await readStart(child.id);
  for (const { id } of await fetchChildRuns(run))
    await server.request('DELETE', `/v1/applications/app/runs/${id}`);
  expect(await readStart(run)).toBe(ofChild);
  expect(await listPhaseNames()).toEqual(['Waited', 'Ran']);
});

test('a cancel request right after the creation cancels every child run', async () => {
  await start([runGroup('w', { waits: true }, { repetitions: 40 })]);
  const runs = await Promise.all([1, 2, 3].map(() => createRun(server, 'app', ensembleRunOptions())));
  await Promise.all(runs.map((run) => server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`)));
  for (const run of runs) {
    expect((await waitForRunEnd(server, 'app', run)).status_v2).toBe('canceled');
    for (const child of await fetchChildRuns(run)) expect(child.status_v2).toBe('canceled');
  }
  expect(await server.runningServer.database.read.selectFrom('planned_runs').selectAll().execute()).toEqual(
    [],
  );
});

test('the rules leave out child runs that were canceled or deleted', async () => {
  await start([runGroup('w', { waits: true }, { repetitions: 2 }), runGroup('a', { value: 3 })], {
    env: { SWITCHYARD_CAPACITY: '6c9500mb870s=3' },
  });
  const run = await createRun(server, 'app', ensembleRunOptions());
  const [one, two] = await waitForChildRuns(run, 'running', 2, 'log-lines');
  await waitForChildRuns(run, 'succeeded', 1);
  await server.request('PATCH', `/v1/applications/app/runs/${one?.id}/cancel`);
  await server.request('DELETE', `/v1/applications/app/runs/${two?.id}`);
  const done = await waitForRunEnd(server, 'app', run);
  expect(done.status_v2).toBe('succeeded');
  expect((await fetchEnsemble(run)).rules_result?.left_out.map((left) => left.why).sort()).toEqual([
    'It was canceled.',
    'It was deleted.',
  ]);
});

test('an ensemble run uses the definition of its start, also when that is deleted or replaced', async () => {
  await start([runGroup('w', { waits: true }), runGroup('a', { value: 3, n: 1 })], {
    env: { SWITCHYARD_CAPACITY: '6c9500mb870s=2' },
  });
  const run = await createRun(server, 'app', ensembleRunOptions());
  const waits = (await waitForWaitingChild(run)).id;
  await server.request('DELETE', '/v1/applications/app/ensembles/best');
  await createEnsemble(server, 'best', [runGroup('other', { value: 1 })]);
  await waitForChildRuns(run, 'succeeded', 1);
  await server.request('PATCH', `/v1/applications/app/runs/${waits}/cancel`);
  const done = await waitForRunEnd(server, 'app', run);
  expect(done).toMatchObject({ status_v2: 'succeeded', run_type: { definition_id: 'best' } });
  const { rules_result, requested_runs } = await fetchEnsemble(run);
  expect(requested_runs).toBe(2);
  expect(rules_result?.decisions.map((one) => one.rule_id)).toEqual(['cost', 'n']);
});

test('an ensemble run survives restarts and ends with the same result', async () => {
  await start([runGroup('a', { value: 9 }, { repetitions: 6 }), runGroup('b', { value: 1 })], {
    env: { SWITCHYARD_CAPACITY: '6c9500mb870s=2' },
  });
  const runs = await Promise.all([1, 2].map(() => createRun(server, 'app', ensembleRunOptions())));
  await server.restart();
  await waitForChildRuns(runs[0] ?? '', 'succeeded', 3);
  await server.restart();
  for (const run of runs) {
    expect(await waitForRunEnd(server, 'app', run)).toMatchObject({
      status_v2: 'succeeded',
      metadata: { statistics: { result: { value: 1 } } },
    });
    expect((await fetchChildRuns(run)).map((one) => one.status_v2)).toEqual(Array(7).fill('succeeded'));
  }
});

test('the rules leave out a child run whose creation failed, with the reason', async () => {
  await start([runGroup('a', { value: 1 }), runGroup('gone', { waits: true })], {
    env: { SWITCHYARD_CAPACITY: '6c9500mb870s=2' },
  });
  const run = await createRun(server, 'app', ensembleRunOptions());
  await waitForChildRuns(run, 'succeeded', 1);
  const { database } = server.runningServer;
  const { application_uid } = await database.read
    .selectFrom('runs')
    .select('application_uid')
    .where('id', '=', run as RunId)
    .executeTakeFirstOrThrow();
  // Such a row replaces the run when its instance is deleted between the request and the start of the planned run.
  const plan = {
    ownerUid: run,
    applicationUid: application_uid,
    plannedAt: 1,
    userEmail: '',
    key: null,
    experiment: null,
  };
  await database.transact(async (tx) => {
    await insertPlannedRuns(tx, plan, [
      { position: 1, instanceId: 'i1', versionId: '', options: {}, contentId: 'c', inputFormat: 'json' },
    ]);
    await refusePlannedRun(tx, { owner_uid: run, position: 1 }, 'There is no instance "i1".');
  });
  await server.request('DELETE', `/v1/applications/app/runs/${(await fetchChildRuns(run))[1]?.id}`);
  expect((await waitForRunEnd(server, 'app', run)).status_v2).toBe('succeeded');
  expect((await fetchEnsemble(run)).rules_result?.left_out).toEqual([
    {
      run_id: null,
      run_group_id: 'gone',
      repetition: 0,
      why: 'Its creation failed: There is no instance "i1".',
    },
  ]);
  expect(await database.read.selectFrom('planned_runs').selectAll().execute()).toEqual([]);
});
