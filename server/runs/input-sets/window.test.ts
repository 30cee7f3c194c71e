/** Input sets of the runs of an instance in a time range. */
import type { InputSet } from '@switchyard/contract/applications/input-sets.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRun, createRunAndWait, nodeApp, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { createInstance, expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const HOUR_MS = 60 * 60 * 1000;
const clock = createManualClock(Date.UTC(2026, 10, 20, 8));
const at = (ms: number): string => new Date(clock.now() + ms).toISOString();
const buildPath = (application: string): string => `/v1/applications/${application}/experiments/inputsets`;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.close());

const postSet = (body: object, to: string) =>
  server.request('POST', to, { body: { name: 'Any name', ...body } });
async function createSet(body: object, to: string): Promise<InputSet> {
  const response = await postSet(body, to);
  expectStatus(response, 201);
  return response.body as InputSet;
}

/** Creates an application with runs of `i1`: one every hour, the newest at the current time. */
async function createHourlyRuns(count: number): Promise<{ application: string; ids: string[] }> {
  const application = await createInstance(server);
  const ids: string[] = [];
  for (let hour = 0; hour < count; hour += 1) {
    if (hour > 0) clock.advance(HOUR_MS);
    ids.unshift((await createRunAndWait(server, application, { instance: 'i1', input: { hour } })).id);
  }
  return { application, ids };
}

test('an input set of an instance has its succeeded runs of the last 24 hours, newest first', async () => {
  const { application, ids } = await createHourlyRuns(3);
  await createRunAndWait(server, application, { input: { other: 'instance' } });
  clock.advance(22 * HOUR_MS);
  // The oldest run is exactly 24 hours old.
  const set = await createSet({ instance_id: 'i1' }, buildPath(application));
  expect(set).toMatchObject({ instance_id: 'i1', input_ids: ids });
  expect(set.inputs.map((one) => one.run_id)).toEqual(ids);
  clock.advance(1);
  const later = await createSet({ instance_id: 'i1' }, buildPath(application));
  expect(later.input_ids).toEqual(ids.slice(0, 2));
});

test('an input set of an instance has the runs from start to end (exclusive), up to the maximum', async () => {
  const { application, ids } = await createHourlyRuns(4);
  const [newest, second, third, oldest] = ids;
  const selectIds = async (fields: object) =>
    (await createSet({ instance_id: 'i1', ...fields }, buildPath(application))).input_ids;
  expect(await selectIds({ maximum_runs: 2 })).toEqual([newest, second]);
  expect(await selectIds({ start_time: at(-2 * HOUR_MS) })).toEqual([newest, second, third]);
  expect(await selectIds({ end_time: at(-2 * HOUR_MS) })).toEqual([oldest]);
  expect(await selectIds({ start_time: at(-2 * HOUR_MS), end_time: at(0) })).toEqual([second, third]);
  expect(await selectIds({ start_time: at(-3 * HOUR_MS), end_time: at(-HOUR_MS), maximum_runs: 1 })).toEqual([
    third,
  ]);
  // The same time in another notation.
  const offset = new Date(clock.now() - HOUR_MS + 90 * 60_000).toISOString().replace('Z', '000+01:30');
  expect(await selectIds({ start_time: offset })).toEqual([newest, second]);
});

test('an input set of an instance has at most twenty runs, all succeeded', async () => {
  await pushApp(server, 'many', nodeApp('({ fails }) => { if (fails) process.exit(1); return {}; }'));
  const ids: string[] = [];
  for (let count = 0; count < 22; count += 1) {
    ids.unshift(await createRun(server, 'many', { input: { fails: count % 11 === 5 } }));
    clock.advance(1);
  }
  for (const id of ids) await waitForRunEnd(server, 'many', id);
  const failed = new Set([ids[5], ids[16]]);
  const set = await createSet({ instance_id: 'latest' }, buildPath('many'));
  expect(set.input_ids).toEqual(ids.filter((id) => !failed.has(id)));
  expect(set.input_ids).toHaveLength(20);
  const more = await createRunAndWait(server, 'many', { input: {} });
  const next = await createSet({ instance_id: 'latest' }, buildPath('many'));
  expect(next.input_ids).toEqual([more.id, ...set.input_ids.slice(0, 19)]);
});

test('an input set of an instance has requested runs, not runs of experiments and ensembles', async () => {
  const { application, ids } = await createHourlyRuns(2);
  const [requests = '', sent = ''] = ids;
  const marks: [string, object][] = [
    [sent, { experiment_uid: 'e', experiment_id: 'e', experiment_type: 'switchback', plan_unit_index: 0 }],
    ['batch', { experiment_uid: 'e', experiment_id: 'e', experiment_type: 'batch' }],
    ['scenario', { experiment_uid: 'e', experiment_id: 'e', experiment_type: 'scenario' }],
    [
      'shadow',
      { experiment_uid: 'e', experiment_id: 'e', experiment_type: 'shadow', parent_run_id: requests },
    ],
    ['ensemble', { parent_run_id: requests }],
  ];
  for (const [which, fields] of marks) {
    const id =
      which === sent ? sent : (await createRunAndWait(server, application, { instance: 'i1', input: {} })).id;
    await server.runningServer.database.transact((tx) =>
      tx
        .updateTable('runs')
        .set(fields)
        .where('id', '=', id as RunId)
        .execute(),
    );
  }
  expect((await createSet({ instance_id: 'i1' }, buildPath(application))).input_ids).toEqual([
    requests,
    sent,
  ]);
});

test('an input set of an instance accepts `latest`, `devint`, and `default` for the default instance', async () => {
  const { application, ids } = await createHourlyRuns(1);
  const old = await createRunAndWait(server, application, { instance: 'devint', input: {} });
  clock.advance(1);
  const recent = await createRunAndWait(server, application, { instance: 'latest', input: {} });
  for (const instance_id of ['latest', 'devint', 'default']) {
    const set = await createSet({ instance_id }, buildPath(application));
    expect(set.input_ids).toEqual([recent.id, old.id]);
  }
  const body = { name: 'Any name', default_instance: 'i1' };
  expectStatus(await server.request('PUT', `/v1/applications/${application}`, { body }), 200);
  const set = await createSet({ instance_id: 'default' }, buildPath(application));
  expect(set).toMatchObject({ instance_id: 'i1', input_ids: ids });
});

test('400 for a missing instance and for a time range without a succeeded run', async () => {
  const { application } = await createHourlyRuns(1);
  const to = buildPath(application);
  expectError(await postSet({ instance_id: 'i2' }, to), 400, 'instance_id is "i2"', 'an instance of this');
  clock.advance(25 * HOUR_MS);
  expectError(
    await postSet({ instance_id: 'i1' }, to),
    400,
    '"i1"',
    at(-24 * HOUR_MS),
    'and now',
    'at least one',
  );
  const end_time = at(-24 * HOUR_MS);
  const window = { instance_id: 'latest', start_time: at(-30 * HOUR_MS), end_time };
  expectError(await postSet(window, to), 400, '"latest"', end_time);
  expectError(await postSet({ instance_id: 'a\0b' }, to), 400, 'instance_id');
});
