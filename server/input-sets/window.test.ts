/** Input sets of what an instance was asked for in a window of time. */

import type { InputSet } from '@switchyard/contract/applications/input-sets.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRun, createRunAndWait, nodeApp, pushApp, waitForRunEnd } from '../testing/fixtures/apps.ts';
import { createInstance, expectError, expectStatus } from '../testing/fixtures/resources.ts';
import { createManualClock } from '../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../testing/servers/test-server.ts';

const HOUR_MS = 60 * 60 * 1000;
const clock = createManualClock(Date.UTC(2026, 10, 20, 8));
const at = (ms: number): string => new Date(clock.now() + ms).toISOString();
const setsOf = (application: string): string => `/v1/applications/${application}/experiments/inputsets`;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.close());

const create = (body: object, to: string) =>
  server.request('POST', to, { body: { name: 'Any name', ...body } });
async function made(body: object, to: string): Promise<InputSet> {
  const response = await create(body, to);
  expectStatus(response, 201);
  return response.body as InputSet;
}

/** An application with runs of `i1`: one every hour, the newest made in this moment. */
async function hourly(count: number): Promise<{ application: string; ids: string[] }> {
  const application = await createInstance(server);
  const ids: string[] = [];
  for (let hour = 0; hour < count; hour += 1) {
    if (hour > 0) clock.advance(HOUR_MS);
    ids.unshift((await createRunAndWait(server, application, { instance: 'i1', input: { hour } })).id);
  }
  return { application, ids };
}

test('an input set of an instance has its succeeded runs of the last 24 hours, newest first, and names it', async () => {
  const { application, ids } = await hourly(3);
  await createRunAndWait(server, application, { input: { other: 'instance' } });
  clock.advance(22 * HOUR_MS);
  // The oldest was made 24 hours ago to the millisecond.
  const set = await made({ instance_id: 'i1' }, setsOf(application));
  expect(set).toMatchObject({ instance_id: 'i1', input_ids: ids });
  expect(set.inputs.map((one) => one.run_id)).toEqual(ids);
  clock.advance(1);
  const later = await made({ instance_id: 'i1' }, setsOf(application));
  expect(later.input_ids).toEqual(ids.slice(0, 2));
});

test('an input set of an instance has those of a window from its start on and before its end, at most so many', async () => {
  const { application, ids } = await hourly(4);
  const [newest, second, third, oldest] = ids;
  const of = async (fields: object) =>
    (await made({ instance_id: 'i1', ...fields }, setsOf(application))).input_ids;
  expect(await of({ maximum_runs: 2 })).toEqual([newest, second]);
  expect(await of({ start_time: at(-2 * HOUR_MS) })).toEqual([newest, second, third]);
  expect(await of({ end_time: at(-2 * HOUR_MS) })).toEqual([oldest]);
  expect(await of({ start_time: at(-2 * HOUR_MS), end_time: at(0) })).toEqual([second, third]);
  expect(await of({ start_time: at(-3 * HOUR_MS), end_time: at(-HOUR_MS), maximum_runs: 1 })).toEqual([
    third,
  ]);
  // Another way to write the same instant.
  const offset = new Date(clock.now() - HOUR_MS + 90 * 60_000).toISOString().replace('Z', '000+01:30');
  expect(await of({ start_time: offset })).toEqual([newest, second]);
});

test('an input set of an instance has twenty at most, and leaves out what has not succeeded', async () => {
  await pushApp(server, 'many', nodeApp('({ fails }) => { if (fails) process.exit(1); return {}; }'));
  const ids: string[] = [];
  for (let count = 0; count < 22; count += 1) {
    ids.unshift(await createRun(server, 'many', { input: { fails: count % 11 === 5 } }));
    clock.advance(1);
  }
  for (const id of ids) await waitForRunEnd(server, 'many', id);
  const failed = new Set([ids[5], ids[16]]);
  const set = await made({ instance_id: 'latest' }, setsOf('many'));
  expect(set.input_ids).toEqual(ids.filter((id) => !failed.has(id)));
  expect(set.input_ids).toHaveLength(20);
  const more = await createRunAndWait(server, 'many', { input: {} });
  const next = await made({ instance_id: 'latest' }, setsOf('many'));
  expect(next.input_ids).toEqual([more.id, ...set.input_ids.slice(0, 19)]);
});

test('an input set of an instance has runs that were asked for from outside, not those that experiments and ensembles made', async () => {
  const { application, ids } = await hourly(2);
  const [asked = '', sent = ''] = ids;
  const marks: [string, object][] = [
    [sent, { experiment_uid: 'e', experiment_id: 'e', experiment_type: 'switchback', plan_unit_index: 0 }],
    ['batch', { experiment_uid: 'e', experiment_id: 'e', experiment_type: 'batch' }],
    ['scenario', { experiment_uid: 'e', experiment_id: 'e', experiment_type: 'scenario' }],
    ['shadow', { experiment_uid: 'e', experiment_id: 'e', experiment_type: 'shadow', parent_run_id: asked }],
    ['ensemble', { parent_run_id: asked }],
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
  expect((await made({ instance_id: 'i1' }, setsOf(application))).input_ids).toEqual([asked, sent]);
});

test('an input set of an instance takes `latest` by both its names, and `default` for the default instance', async () => {
  const { application, ids } = await hourly(1);
  const old = await createRunAndWait(server, application, { instance: 'devint', input: {} });
  clock.advance(1);
  const young = await createRunAndWait(server, application, { instance: 'latest', input: {} });
  for (const instance_id of ['latest', 'devint', 'default']) {
    const set = await made({ instance_id }, setsOf(application));
    expect(set.input_ids).toEqual([young.id, old.id]);
  }
  const body = { name: 'Any name', default_instance: 'i1' };
  expectStatus(await server.request('PUT', `/v1/applications/${application}`, { body }), 200);
  const set = await made({ instance_id: 'default' }, setsOf(application));
  expect(set).toMatchObject({ instance_id: 'i1', input_ids: ids });
});

test('an input set of an instance: 400 for an instance that is none, and for a time without a run that succeeded', async () => {
  const { application } = await hourly(1);
  const to = setsOf(application);
  expectError(await create({ instance_id: 'i2' }, to), 400, 'instance_id is "i2"', 'an instance of this');
  clock.advance(25 * HOUR_MS);
  expectError(
    await create({ instance_id: 'i1' }, to),
    400,
    '"i1"',
    at(-24 * HOUR_MS),
    'and now',
    'at least one',
  );
  const end_time = at(-24 * HOUR_MS);
  const window = { instance_id: 'latest', start_time: at(-30 * HOUR_MS), end_time };
  expectError(await create(window, to), 400, '"latest"', end_time);
  expectError(await create({ instance_id: 'a\0b' }, to), 400, 'instance_id');
});
