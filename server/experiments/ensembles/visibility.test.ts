/** The body of an ensemble run, its visibility to roles, and the isolation of its child runs from online tests. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterEach, expect, test } from 'vitest';
import { countPlannedRuns, insertPlannedRuns } from '../../runs/store/planned-runs.ts';
import { createRun, createRunAndWait, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import {
  createEnsemble,
  ensembleRunOptions,
  fetchEnsembleRun,
  runGroup,
  runGroupOn,
  SCRIPTED_APP,
  SCRIPTED_APP_TYPE,
} from '../../testing/fixtures/ensembles.ts';
import { originalRunId } from '../../testing/fixtures/online-tests.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
afterEach(() => server.close());

const params = { application_id: 'app' };

test('the whole body of an ensemble run, before and after its end', async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '6c9500mb870s=2' } });
  await pushApp(server, 'app', SCRIPTED_APP, SCRIPTED_APP_TYPE);
  await createEnsemble(server, 'best', [runGroup('a', { value: 3, n: 1 }), runGroup('w', { waits: true })]);
  const account = (await server.request('GET', '/v1/account')).body as { id: string };
  const run = await createRun(server, 'app', ensembleRunOptions());
  const waits = await server.waitUntil('log-lines', async () =>
    (await fetchEnsembleRun(server, run)).child_runs.find(
      (one) => one.run_group_id === 'w' && one.status_v2 === 'running',
    ),
  );
  const first = await server.waitUntil('runs-ended', async () =>
    (await fetchEnsembleRun(server, run)).child_runs.find((one) => one.status_v2 === 'succeeded'),
  );
  const child = (id: string | undefined, run_group_id: string, status_v2: string, error: unknown = '') => ({
    id,
    run_group_id,
    repetition: 0,
    application_instance_id: 'latest',
    application_version_id: '',
    status_v2,
    error,
  });
  const known = {
    id: run,
    account_id: account.id,
    application_id: 'app',
    error: '',
    evaluation_type: 'rules',
    definition_id: 'best',
    requested_runs: 2,
  };
  expect(await fetchEnsembleRun(server, run)).toEqual({
    ...known,
    status_v2: 'running',
    child_runs: [child(first.id, 'a', 'succeeded'), child(waits.id, 'w', 'running')],
  });
  await server.request('PATCH', `/v1/applications/app/runs/${waits.id}/cancel`);
  await waitForRunEnd(server, 'app', run);
  const rule = {
    rule_id: 'cost',
    index: 0,
    statistics_path: '$.result.value',
    objective: 'minimize',
    tolerance: { type: 'absolute', value: 1 },
    best: 3,
    considered: [first.id],
    kept: [first.id],
    dropped: [],
  };
  expect(await fetchEnsembleRun(server, run)).toEqual({
    ...known,
    status_v2: 'succeeded',
    child_runs: [child(first.id, 'a', 'succeeded'), child(waits.id, 'w', 'canceled', expect.any(String))],
    rules_result: {
      best_run_id: first.id,
      decisions: [
        rule,
        {
          ...rule,
          rule_id: 'n',
          index: 1,
          statistics_path: 'result.custom.n',
          objective: 'maximize',
          tolerance: { type: 'absolute', value: 0 },
          best: 1,
        },
      ],
      left_out: [{ run_id: waits.id, run_group_id: 'w', repetition: 0, why: 'It was canceled.' }],
      // A lone slot would make the second child run wait, so only the type of the times is known.
      usage: {
        started_at: expect.any(String),
        wall_seconds: expect.any(Number),
        total_seconds: expect.any(Number),
        has_waited: expect.any(Boolean),
      },
      gain: {
        statistics_path: '$.result.value',
        objective: 'minimize',
        value: 3,
        best_group: { run_group_id: 'a', mean: 3 },
        improvement: 0,
        relative_improvement: 0,
        groups: [
          { run_group_id: 'a', runs: 1, failed: 0, mean: 3, best: 3 },
          { run_group_id: 'w', runs: 0, failed: 0, mean: null, best: null },
        ],
        best_of_k: [{ k: 1, expected: 3, solved_share: 1 }],
      },
    },
  });
});

test('a shadow test does not copy child runs, and a switchback test does not route them', async () => {
  server = await startTestServer();
  await pushApp(server, 'app', SCRIPTED_APP, SCRIPTED_APP_TYPE);
  await server.client.call('createVersion', { params, body: { id: 'v1', name: 'One' } });
  for (const id of ['shadowed', 'switched', 'candidate'])
    await server.client.call('createInstance', {
      params,
      body: { id, name: `Instance ${id}`, version_id: 'v1' },
    });
  const experiments = '/v1/applications/app/experiments';
  for (const [kind, baseline, more] of [
    ['shadow', 'shadowed', { termination_events: { maximum_runs: 10 } }],
    ['switchback', 'switched', { generate_random_plan: { unit_duration_minutes: 600, units: 2 } }],
  ] as const) {
    const comparison = { baseline_instance_id: baseline, candidate_instance_id: 'candidate' };
    const body = { id: kind, name: `Test ${kind}`, comparison, ...more };
    expectStatus(await server.request('POST', `${experiments}/${kind}`, { body }), 201);
    expectStatus(await server.request('PUT', `${experiments}/${kind}/${kind}/start`), 204);
  }
  await createEnsemble(server, 'best', [
    runGroupOn('shadowed', 'a', { value: 1 }),
    runGroupOn('switched', 'b', { value: 2 }),
  ]);
  const done = await createRunAndWait(server, 'app', ensembleRunOptions());
  expect(done.status_v2).toBe('succeeded');
  const { child_runs } = await fetchEnsembleRun(server, done.id);
  expect(child_runs.map((one) => one.application_instance_id)).toEqual(['shadowed', 'switched']);
  // Runs that a caller requests afterwards are copied and routed, so both tests are active.
  const plain = await createRun(server, 'app', { instance: 'shadowed' });
  const routed = await createRunAndWait(server, 'app', { instance: 'switched' });
  expect(routed.metadata.experiment_id).toBe('switchback');
  const listRuns = async (kind: string) =>
    ((await server.request('GET', `${experiments}/${kind}/${kind}/runs`)).body as { runs: { id: string }[] })
      .runs;
  const copies = await server.waitUntil('runs-ended', async () => {
    const found = (await listRuns('shadow')).filter((run) => 'experiment_id' in run);
    return found.length > 0 ? found : null;
  });
  expect(copies.map((copy) => originalRunId(copy as never))).toEqual([plain]);
  expect((await listRuns('switchback')).map((run) => run.id)).toEqual([routed.id]);
  expect((await listRuns('shadow')).map((run) => run.id).sort()).toEqual(
    [plain, ...copies.map((copy) => copy.id)].sort(),
  );
});

test('the reason of a failed creation names no option that is hidden from some role', async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' } });
  await pushApp(server, 'app', SCRIPTED_APP, {
    ...SCRIPTED_APP_TYPE,
    options: {
      items: [
        {
          name: 'confidential',
          option_type: 'int',
          additional_attributes: { max: 10 },
          ui: { hidden_from: ['viewer'] },
        },
      ],
      validation: { enforce: 'all' },
    },
  });
  await createEnsemble(server, 'best', [runGroup('a', { value: 1 }), runGroup('b', { value: 2 })]);
  const run = await createRun(server, 'app', ensembleRunOptions());
  const [one, two] = await server.waitUntil('runs-queued', async () => {
    const { child_runs } = await fetchEnsembleRun(server, run);
    return child_runs.length === 2 ? child_runs : null;
  });
  // A planned run with an option that the app rejects, as when the app is replaced after the request.
  const { database } = server.runningServer;
  const { application_uid, input_content_id } = await database.read
    .selectFrom('runs')
    .select(['application_uid', 'input_content_id'])
    .where('id', '=', run as RunId)
    .executeTakeFirstOrThrow();
  const plan = {
    ownerUid: run,
    applicationUid: application_uid,
    plannedAt: 1,
    userEmail: '',
    key: null,
    experiment: null,
  };
  await database.transact((tx) =>
    insertPlannedRuns(tx, plan, [
      {
        position: 0,
        instanceId: 'latest',
        versionId: '',
        options: { confidential: '99' },
        contentId: input_content_id,
        inputFormat: 'json',
        parentRunId: run as RunId,
      },
    ]),
  );
  database.notify('runs-planned');
  await server.waitUntil(
    'runs-ended',
    async () => (await countPlannedRuns(database.read, run)).refused === 1,
  );
  expectStatus(await server.request('DELETE', `/v1/applications/app/runs/${one?.id}`), 204);
  expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${two?.id}/cancel`), 204);
  await waitForRunEnd(server, 'app', run);
  const { token } = await server.createKey('viewer');
  for (const rest of ['', '/metadata', '/ensemble']) {
    const { text } = await server.request('GET', `/v1/applications/app/runs/${run}${rest}`, { token });
    expect(text).toContain(
      'Its creation failed: The run breaks a rule for an option that is hidden from some roles',
    );
    expect(text).not.toContain('confidential');
  }
});
