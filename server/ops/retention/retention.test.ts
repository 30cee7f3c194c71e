/** Retention policies: what they delete, what they never delete, and the storage of applications. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { countRowsByTable, listBlobs } from '../../testing/servers/orphan-rows.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { classifyRun, type RunFacts, type RunRetention } from './classify-run.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const clock = createManualClock(Date.parse('2026-01-01T12:00:00Z'));
const EXTERNAL = { configuration: { run_type: { type: 'external' } } };
const SUCCEEDED = { ...EXTERNAL, result: { status: 'succeeded', execution_duration: 1 } };
const path = '/v1/applications/routing';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
  await server.client.call('createApplication', { body: { id: 'routing', name: 'Routing' } });
  await server.client.call('createApplication', { body: { id: 'other', name: 'Other app' } });
});
afterAll(() => server.close());

const createEndedRun = (input: unknown = {}, application = 'routing') =>
  createRun(server, application, { input, body: SUCCEEDED });
const setTags = async (run: string, tags: string[]) =>
  expectStatus(await server.request('PUT', `${path}/runs/${run}/tags`, { body: { tags } }), 200);
const setPolicy = async (body: object) =>
  expectStatus(await server.request('PUT', `${path}/retention`, { body }), 200);
const preview = async (query: string) => {
  const response = await server.request('GET', `${path}/retention/preview${query}`);
  expectStatus(response, 200);
  return response.body as { runs: number; bytes: number; examples: { id: string }[]; retained: object };
};
const listRunIds = async (application = 'routing') => {
  const { body } = await server.request(
    'GET',
    `/v1/applications/${application}/runs?start=2025-12-01T00:00:00Z`,
  );
  return (body as { runs: { id: string }[] }).runs.map(({ id }) => id);
};

test('a policy deletes exactly the runs of its preview, with their content', async () => {
  const largeText = 'x'.repeat(100_000);
  const old = await createEndedRun({ text: largeText });
  const tagged = await createEndedRun();
  await setTags(tagged, ['reference', 'a', 'a']);
  const open = await createRun(server, 'routing', { input: {}, body: EXTERNAL });
  const elsewhere = await createEndedRun({}, 'other');
  const blobs = listBlobs(server).length;
  clock.advance(40 * DAY_MS);
  const recent = await createEndedRun();
  const before = await countRowsByTable(server);
  const effect = await preview('?keep_days=30');
  expect(effect).toMatchObject({
    runs: 1,
    oldest: '2026-01-01T12:00:00.000Z',
    newest: '2026-01-01T12:00:00.000Z',
    examples: [{ id: old }],
    retained: { tagged: 1, of_experiments: 0, in_use: 1 },
    is_complete: true,
  });
  expect(effect.bytes).toBe(JSON.stringify({ text: largeText }).length);
  expect(await countRowsByTable(server)).toEqual(before);
  expect(await preview('?keep_days=41')).toMatchObject({ runs: 0, bytes: 0, oldest: null, examples: [] });

  await setPolicy({ keep_days: 30 });
  await expect.poll(() => listRunIds()).toEqual(expect.not.arrayContaining([old]));
  expect((await listRunIds()).sort()).toEqual([tagged, open, recent].sort());
  expect(await listRunIds('other')).toEqual([elsewhere]);
  expect(await preview('')).toMatchObject({ runs: 0 });
  await expect.poll(() => listBlobs(server)).toHaveLength(blobs - 1);
  const { body } = await server.request('GET', '/v1/account/audit?operation=removeExpiredRuns');
  expect(body).toMatchObject({
    items: [{ key_id: null, resource: { application_id: 'routing', run_count: '1', run_ids: old } }],
  });
  // Without its tag the run is deleted like any other, at the latest by the next pass over all runs.
  await setTags(tagged, []);
  await server.restart();
  await expect.poll(() => listRunIds()).toEqual(expect.not.arrayContaining([tagged]));
  expect((await listRunIds()).sort()).toEqual([open, recent].sort());
});

test('more runs than one step deletes are all deleted, also after a restart in between', async () => {
  await setPolicy({ keep_days: null });
  for (let count = 0; count < 120; count += 1) await createEndedRun();
  clock.advance(2 * DAY_MS);
  const runs = (await countRowsByTable(server)).runs ?? 0;
  await setPolicy({ keep_days: 1 });
  await server.restart();
  await expect.poll(async () => (await countRowsByTable(server)).runs).toBe(runs - 121);
  const { body } = await server.request('GET', '/v1/account/audit?operation=removeExpiredRuns&limit=50');
  const counts = (body as { items: { resource: { run_count: string } }[] }).items.map(({ resource }) =>
    Number(resource.run_count),
  );
  // One run and its formerly tagged neighbour before, and the recent one of the test above now.
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(123);
});

test('without a policy runs stay, and its default keeps runs of experiments', async () => {
  expect((await server.request('GET', '/v1/applications/other/retention')).body).toEqual({
    keep_days: null,
    keep_experiment_runs: true,
    updated_at: null,
  });
  expect(await listRunIds('other')).toHaveLength(1);
  const response = await server.request('GET', '/v1/applications/other/retention/preview');
  expectError(response, 400, 'keep_days');
});

test.each([
  [{ keep_days: 0 }],
  [{ keep_days: 1.5 }],
  [{ keep_days: 1e9 }],
  [{ keep_days: '30' }],
  [{}],
  [{ keep_days: 30, keep_tagged: false }],
])('the policy %j is refused', async (body) => {
  expectError(await server.request('PUT', `${path}/retention`, { body }), 400);
});

test.each([[{ tags: [''] }], [{ tags: ['a\0'] }], [{ tags: Array(21).fill('a') }], [{ tags: 'a' }], [{}]])(
  'the tags %j are refused',
  async (body) => {
    const run = await createEndedRun();
    expectError(await server.request('PUT', `${path}/runs/${run}/tags`, { body }), 400);
    expect((await server.request('GET', `${path}/runs/${run}/tags`)).body).toEqual({ tags: [] });
  },
);

test('the storage of an application has the bytes of its runs and managed inputs', async () => {
  await server.client.call('createApplication', { body: { id: 'measured', name: 'Measured' } });
  const run = await createEndedRun({ n: 12 }, 'measured');
  await server.client.call('createInput', {
    params: { application_id: 'measured' },
    body: { id: 'monday', run_id: run },
  });
  clock.advance(5 * 60_000);
  const { body } = await server.client.call('getStorage');
  expect(body.items[0]).toEqual({
    application_id: 'measured',
    application_name: 'Measured',
    runs: 1,
    run_bytes: '{"n":12}'.length,
    input_bytes: '{"n":12}'.length,
    executable_bytes: 0,
    keep_days: null,
  });
});

test('the database finds the age, the tags, the parent and the uses of each run', async () => {
  const application = 'facts';
  await server.client.call('createApplication', { body: { id: application, name: 'Facts' } });
  const create = async () => (await createEndedRun({}, application)) as RunId;
  const [plain, parent, child] = [await create(), await create(), await create()];
  const [copy, captured, compared] = [await create(), await create(), await create()];
  const { database } = server.runningServer;
  await database.transact(async (tx) => {
    const update = (id: RunId, columns: { parent_run_id?: RunId; experiment_uid?: string }) =>
      tx.updateTable('runs').set(columns).where('id', '=', id).execute();
    await update(child, { parent_run_id: parent });
    await update(copy, { parent_run_id: plain });
    await update(compared, { experiment_uid: 'ended' });
    await tx
      .insertInto('captured_runs')
      .values({ experiment_uid: 'x', run_id: captured, application_uid: 'x', at: 1 })
      .execute();
  });
  const root = `/v1/applications/${application}`;
  await server.request('PUT', `${root}/runs/${child}/tags`, { body: { tags: ['a'] } });
  const readEffect = async () => (await server.request('GET', `${root}/retention/preview?keep_days=30`)).body;
  clock.advance(30 * DAY_MS);
  expect(await readEffect()).toMatchObject({ runs: 0 });
  clock.advance(1);
  expect(await readEffect()).toMatchObject({
    runs: 1,
    examples: [{ id: plain }],
    retained: { tagged: 2, of_experiments: 1, in_use: 2 },
  });
});

test('a share link keeps its run and the parent of its run until it is revoked or has expired', async () => {
  const application = 'shared';
  await server.client.call('createApplication', { body: { id: application, name: 'Shared' } });
  const create = async () => (await createEndedRun({}, application)) as RunId;
  const [parent, child, alone] = [await create(), await create(), await create()];
  const { database } = server.runningServer;
  await database.transact((tx) =>
    tx.updateTable('runs').set({ parent_run_id: parent }).where('id', '=', child).execute(),
  );
  clock.advance(31 * DAY_MS);
  const share = async (run_id: RunId, expires_in_hours: number) =>
    (
      await server.client.call('createShare', {
        params: { application_id: application, run_id },
        body: { parts: ['log'], expires_in_hours },
      })
    ).body.id;
  const root = `/v1/applications/${application}`;
  const readRuns = async () => {
    const { body } = await server.request('GET', `${root}/retention/preview?keep_days=30`);
    return (body as { examples: { id: string }[] }).examples.map(({ id }) => id);
  };
  const link = await share(child, 24);
  await share(alone, 1);
  expect(await readRuns()).toEqual([]);
  expectStatus(await server.request('DELETE', `${root}/runs/${child}/shares/${link}`), 204);
  expect(await readRuns()).toEqual([parent]);
  clock.advance(DAY_MS);
  // The job that deletes expired links runs at the start.
  await server.restart();
  await expect.poll(readRuns).toEqual(expect.arrayContaining([parent, alone]));
});

describe('a run is', () => {
  const now = 100 * DAY_MS;
  const facts: RunFacts = {
    ...{ id: 'run-1' as RunId, name: '', created_at: 0, finished_at: 0 },
    ...{ experiment_uid: null, run_type: 'standard', is_tagged: false, has_tagged_child: false },
    ...{ has_parent: false, is_captured: false, is_replayed: false, has_active_experiment: false },
    is_shared: false,
  };
  const ofExperiment = { experiment_uid: 'x' };
  test.each<[RunRetention, Partial<RunFacts>, boolean]>([
    ['expired', {}, true],
    ['expired', { finished_at: 70 * DAY_MS - 1 }, true],
    ['recent', { finished_at: 70 * DAY_MS }, true],
    ['in_use', { finished_at: null }, true],
    ['tagged', { is_tagged: true }, true],
    ['tagged', { is_tagged: 1 }, false],
    ['tagged', { has_tagged_child: true }, true],
    ['of_experiment', ofExperiment, true],
    ['expired', ofExperiment, false],
    ['in_use', { ...ofExperiment, has_active_experiment: true }, false],
    ['in_use', { has_parent: true }, false],
    ['in_use', { is_captured: true }, true],
    ['in_use', { is_replayed: true }, true],
    ['in_use', { is_shared: true }, true],
    ['tagged', { is_shared: true, is_tagged: true }, true],
  ])('%s: %j, experiments kept: %s', (expected, changes, keepExperimentRuns) => {
    expect(classifyRun({ ...facts, ...changes }, { keepDays: 30, keepExperimentRuns }, now)).toBe(expected);
  });
});
