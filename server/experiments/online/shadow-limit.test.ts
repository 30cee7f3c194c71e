/** The limit on copies of shadow tests, which is exact, and the originals, which no test changes. */
import { afterEach, describe, expect, test } from 'vitest';
import { createRun, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { createOnlineTestApp, originalRunId, shadowCalls } from '../../testing/fixtures/online-tests.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const START = Date.UTC(2026, 0, 5, 8);
/** No slot for runs, so they stay queued. */
const NO_SLOTS = { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' };

let server: TestServer;
let clock: ManualClock;
afterEach(() => server.close());
const calls = shadowCalls(() => server);
const { startTest, copies, waitForCopies } = calls;

async function start(env: Record<string, string> = {}, candidate?: Record<string, string>): Promise<void> {
  clock = createManualClock(START);
  server = await startTestServer({ clock, env });
  await createOnlineTestApp(server, 'app', candidate);
}
const submitRun = () => createRun(server, 'app', { instance: 'baseline', input: { cost: 100 } });

test('F2: a copy has the limit of its original', async () => {
  await start(NO_SLOTS);
  await startTest({ termination_events: { maximum_runs: 2 } });
  const limited = { configuration: { max_duration: 7 } };
  await createRun(server, 'app', { instance: 'baseline', input: { cost: 100 }, body: limited });
  await submitRun();
  await waitForCopies(2);
  const { read } = server.runningServer.database;
  const stored = await read
    .selectFrom('runs')
    .select('max_duration')
    .where('experiment_id', 'is not', null)
    .orderBy('max_duration')
    .execute();
  expect(stored).toEqual([{ max_duration: 7 }, { max_duration: 870 }]);
});

describe('the limit', () => {
  test('is exact when more runs are submitted concurrently', async () => {
    await start(NO_SLOTS);
    await startTest({ termination_events: { maximum_runs: 300 } });
    // A hundred at a time: a busy server refuses 500 at once, to bound its memory.
    for (let round = 0; round < 5; round += 1)
      await Promise.all(Array.from({ length: 100 }, () => submitRun()));
    await waitForCopies(300);
    expect(await calls.get('test/metadata')).toMatchObject({
      number_of_requested_runs: 300,
      number_of_runs: 300,
    });
    const created = await copies();
    expect(new Set(created.map((run) => originalRunId(run))).size).toBe(300);
    const { read } = server.runningServer.database;
    expect(await read.selectFrom('run_routes').selectAll().execute()).toEqual([]);
    expect(await read.selectFrom('captured_runs').selectAll().execute()).toEqual([]);
    expect((await read.selectFrom('runs').select('id').execute()).length).toBe(800);
  });

  test('is exact when the server restarts during the test', async () => {
    await start(NO_SLOTS);
    await startTest({ termination_events: { maximum_runs: 30 } });
    await Promise.all(Array.from({ length: 20 }, () => submitRun()));
    await server.restart();
    await Promise.all(Array.from({ length: 20 }, () => submitRun()));
    await server.restart();
    await waitForCopies(30);
    const created = await copies();
    expect(new Set(created.map((run) => originalRunId(run))).size).toBe(30);
  });

  test('counts originals, and copies each to every candidate', async () => {
    await start(NO_SLOTS);
    await startTest({
      comparison: null,
      comparisons: { baseline: ['candidate', 'latest'] },
      termination_events: { maximum_runs: 2 },
    });
    for (let count = 0; count < 3; count += 1) await submitRun();
    await waitForCopies(4);
    expect((await copies()).map((run) => run.application_instance_id).sort()).toEqual([
      'candidate',
      'candidate',
      'latest',
      'latest',
    ]);
  });
});

describe('the original is unaffected', () => {
  test('by a candidate that crashes', async () => {
    await start({}, { mode: 'crash' });
    await startTest({ termination_events: { maximum_runs: 1 } });
    const original = await submitRun();
    expect(await waitForRunEnd(server, 'app', original)).toMatchObject({ status_v2: 'succeeded' });
    expect(await calls.waitForStatus('test', 'completed')).toMatchObject({ number_of_failed_runs: 1 });
    expect((await copies()).map((run) => run.status_v2)).toEqual(['failed']);
    expect(await calls.get('test')).toMatchObject({
      compared: [{ indicators: [{ verdict: 'undecided', candidate: { runs: { failed: 1 } } }, {}] }],
    });
  });

  test('by a candidate that hangs and is canceled with the test', async () => {
    await start({}, { mode: 'hang' });
    await startTest({ termination_events: { maximum_runs: 1 } });
    const original = await submitRun();
    expect(await waitForRunEnd(server, 'app', original)).toMatchObject({ status_v2: 'succeeded' });
    expect(await calls.status('test')).toBe('started');
    expectStatus(await calls.stop('test', { intent: 'cancel' }), 204);
    await server.waitUntil(
      'runs-ended',
      async () => (await calls.get('test/metadata')).number_of_completed_runs === 1,
    );
    expect((await copies()).map((run) => run.status_v2)).toEqual(['canceled']);
  });

  test('by a deleted candidate, whose copies are rejected with the reason', async () => {
    await start();
    await startTest({ termination_events: { maximum_runs: 1 } });
    expectStatus(await server.request('DELETE', '/v1/applications/app/instances/candidate'), 204);
    const original = await submitRun();
    expect(await waitForRunEnd(server, 'app', original)).toMatchObject({ status_v2: 'succeeded' });
    expect(await calls.waitForStatus('test', 'completed')).toMatchObject({
      number_of_requested_runs: 1,
      number_of_runs: 0,
      number_of_failed_runs: 1,
    });
    expect(await calls.get('test')).toMatchObject({
      refused_runs: [{ input_id: original, error: 'There is no instance "candidate" of application "app".' }],
    });
    expect((await calls.runs('test')).map((run) => run.id)).toEqual([original]);
  });

  test('by its deletion before the copy: it has no copy and does not count', async () => {
    await start(NO_SLOTS);
    await startTest();
    const { database } = server.runningServer;
    const [deleted, copied] = [await submitRun(), await submitRun()];
    await server.request('DELETE', `/v1/applications/app/runs/${deleted}`);
    await server.waitUntil('runs-queued', async () =>
      (await copies()).some((run) => originalRunId(run) === copied),
    );
    expect(await database.read.selectFrom('captured_runs').selectAll().execute()).toEqual([]);
  });
});

test('the pages of runs contain each original and each copy once', async () => {
  await start(NO_SLOTS);
  await startTest();
  for (let count = 0; count < 4; count += 1) {
    await submitRun();
    clock.advance(1);
  }
  await waitForCopies(4);
  const ids: string[] = [];
  for (let token = ''; ; ) {
    const page = await calls.get(
      `test/runs?pagereturn=true&limit=3${token && `&pagetoken=${encodeURIComponent(token)}`}`,
    );
    expect(page.items).toEqual(page.runs);
    ids.push(...(page.runs as { id: string }[]).map((run) => run.id));
    token = (page.next_page_token as string | undefined) ?? '';
    if (!token) break;
  }
  expect(new Set(ids).size).toBe(8);
  expect(ids).toEqual((await calls.runs('test')).map((run) => run.id));
});
