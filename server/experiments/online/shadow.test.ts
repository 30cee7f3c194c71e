/** Shadow tests, from the draft to the results, told through the API. */
import { afterEach, describe, expect, test } from 'vitest';
import { createRun, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import {
  COMPARISON,
  createOnlineTestApp,
  originalRunId,
  shadowCalls,
} from '../../testing/fixtures/online-tests.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const START = Date.UTC(2026, 0, 5, 8);
const at = (ms: number) => new Date(START + ms).toISOString();
/** No slot for runs: what is made stays queued. */
const NO_SLOTS = { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' };

let server: TestServer;
let clock: ManualClock;
afterEach(() => server.close());
const calls = shadowCalls(() => server);
const { draft, startTest, copies, waitForCopies } = calls;

async function start(env: Record<string, string> = {}, candidate?: Record<string, string>): Promise<void> {
  clock = createManualClock(START);
  server = await startTestServer({ clock, env });
  await createOnlineTestApp(server, 'app', candidate);
}
const make = (cost = 100, more: object = {}) =>
  createRun(server, 'app', { instance: 'baseline', input: { cost }, body: { ...more } });

describe('a draft', () => {
  test('is shown in both forms, listed, renamed and deleted', async () => {
    await start();
    const made = await calls.create(
      draft({
        start_events: { time: at(60_000) },
        termination_events: { maximum_runs: 10, time: at(120_000) },
        objectives: { 'result.value': 'minimize' },
      }),
    );
    expectStatus(made, 201);
    const shown = {
      id: 'test',
      app_id: 'app',
      name: 'Faster search',
      description: '',
      status: 'draft',
      created_at: at(0),
      updated_at: at(0),
      comparison: COMPARISON,
      comparisons: [{ baseline_instance_id: 'baseline', candidate_instance_ids: ['candidate'] }],
      start_events: { time: at(60_000) },
      termination_events: { maximum_runs: 10, time: at(120_000) },
      objectives: { 'result.value': 'minimize' },
      number_of_requested_runs: 0,
      number_of_runs: 0,
      number_of_completed_runs: 0,
      number_of_failed_runs: 0,
    };
    expect(made.body).toEqual(shown);
    clock.advance(1);
    const other = draft({
      id: 'other',
      comparison: null,
      comparisons: { baseline: ['candidate', 'latest'] },
      start_events: { time: '0001-01-01T00:00:00Z' },
      termination_events: { maximum_runs: 1, time: '0001-01-01T00:00:00Z' },
    });
    const several = await calls.create(other);
    expectStatus(several, 201);
    expect(several.body).toEqual({
      ...shown,
      id: 'other',
      created_at: at(1),
      updated_at: at(1),
      comparisons: [{ baseline_instance_id: 'baseline', candidate_instance_ids: ['candidate', 'latest'] }],
      start_events: {},
      termination_events: { maximum_runs: 1 },
      objectives: {},
    });
    expect((await server.request('GET', calls.root)).body).toMatchObject([{ id: 'other' }, shown]);
    expect((await server.request('GET', `${calls.root}?pagereturn=true&limit=1`)).body).toMatchObject({
      items: [{ id: 'other' }],
      next_page_token: expect.any(String),
    });
    const renamed = await server.request('PATCH', `${calls.root}/test`, {
      body: { name: 'Renamed', description: 'Short.', status: 'completed' },
    });
    expect(renamed.body).toMatchObject({ name: 'Renamed', description: 'Short.', status: 'draft' });
    expect(await calls.get('test')).toMatchObject({
      name: 'Renamed',
      grouped_distributional_summaries: [],
      compared: [{ indicators: [] }],
      refused_runs: [],
    });
    expectStatus(await calls.remove('test'), 204);
    for (const [method, path] of [
      ['GET', 'test'],
      ['GET', 'test/runs'],
      ['GET', 'test/metadata'],
      ['PATCH', 'test'],
      ['DELETE', 'test'],
      ['PUT', 'test/start'],
      ['PUT', 'test/stop'],
    ] as const)
      expectError(
        await server.request(method, `${calls.root}/${path}`, method === 'PATCH' ? { body: {} } : {}),
        404,
        'shadow test "test"',
      );
    expectStatus(await calls.create(draft()), 201);
  });
});

describe('a started test', () => {
  test('copies runs of the baseline, compares each with its original, and ends with its last copy', async () => {
    await start();
    await startTest({ termination_events: { maximum_runs: 12 } });
    expect(await calls.status('test')).toBe('started');
    const originals: string[] = [];
    for (let cost = 100; cost < 112; cost += 1)
      originals.push(await make(cost, { options: { note: `n${cost}` }, name: `Run ${cost}` }));
    const over = await make(1);
    for (const id of [...originals, over])
      expect(await waitForRunEnd(server, 'app', id)).toMatchObject({ status_v2: 'succeeded' });
    const shown = await calls.waitForStatus('test', 'completed');
    expect(shown).toMatchObject({
      started_at: at(0),
      completed_at: at(0),
      number_of_requested_runs: 12,
      number_of_runs: 12,
      number_of_completed_runs: 12,
      number_of_failed_runs: 0,
    });

    const runs = await calls.runs('test');
    expect(runs).toHaveLength(24);
    const made = await copies();
    expect(made.map((run) => originalRunId(run)).sort()).toEqual(originals.sort());
    for (const copy of made) {
      const reference_id = originalRunId(copy);
      const original = runs.find((run) => run.id === reference_id);
      expect(copy).toMatchObject({
        application_instance_id: 'candidate',
        experiment_type: 'shadow',
        queuing_priority: 9,
        request_options: original?.request_options,
        name: original?.name,
      });
      expect(original?.experiment_id).toBeUndefined();
    }

    // Less by 10 for each of 12 inputs: the sign is certain, and so is its size.
    const found = await calls.get('test');
    const [compared] = found.compared as {
      indicators: Record<string, unknown>[];
      control: object;
      candidate: object;
    }[];
    expect(compared).toMatchObject({
      control: { instance_id: 'baseline', version_id: 'v1' },
      candidate: { instance_id: 'candidate', version_id: 'v1' },
    });
    expect(compared?.indicators[0]).toMatchObject({
      indicator: 'result.value',
      verdict: 'better',
      mean_difference: { value: -10 },
      inputs: { total: 12, usable: 12, wins: 12, ties: 0, losses: 0 },
      control: { mean: 105.5 },
      candidate: { mean: 95.5 },
    });
    const summaries = found.grouped_distributional_summaries as { group_values: string[]; runs: object }[];
    expect(summaries.slice(0, 2).map((one) => [one.group_values, one.runs])).toEqual(
      expect.arrayContaining([
        [['baseline', 'v1'], expect.objectContaining({ total: 12, succeeded: 12 })],
        [['candidate', 'v1'], expect.objectContaining({ total: 12, succeeded: 12 })],
      ]),
    );

    // The results are kept when the runs go.
    for (const run of runs) await server.request('DELETE', `/v1/applications/app/runs/${run.id}`);
    expect(await calls.runs('test')).toEqual([]);
    const after = await calls.get('test');
    expect(after.compared).toEqual(found.compared);
    expect(after).toMatchObject({ status: 'completed', number_of_runs: 0 });
  });

  test('is started once: 304 then, and 400 for what is over', async () => {
    await start();
    await startTest();
    const again = await calls.start('test');
    expectStatus(again, 304);
    expect(again.text).toBe('');
    expect(
      await server.client.call('startShadowTest', { params: { application_id: 'app', shadow_id: 'test' } }),
    ).toMatchObject({ status: 304 });
    expectStatus(await calls.stop('test', { intent: 'cancel' }), 204);
    expectError(await calls.start('test'), 400, 'canceled');
  });

  test('keeps others from its baseline until it is over, and says which it is', async () => {
    await start();
    await startTest();
    expectStatus(await calls.create(draft({ id: 'second' })), 201);
    expectError(await calls.start('second'), 400, '"baseline"', 'shadow test "test"');
    expect(await calls.status('second')).toBe('draft');
    expectStatus(await calls.stop('test'), 204);
    expectStatus(await calls.start('second'), 204);
    expectStatus(await calls.remove('second'), 204);
    await startTest({ id: 'third' });
  });

  test('stops at a time, to the millisecond, whenever it is looked at', async () => {
    await start(NO_SLOTS);
    await startTest({
      start_events: { time: at(60_000) },
      termination_events: { maximum_runs: 10, time: at(120_000) },
    });
    await make();
    clock.advance(60_000);
    const wanted = [await make()];
    clock.advance(59_999);
    wanted.push(await make());
    clock.advance(1);
    await make();
    const test = await waitForCopies(2);
    expect(test).toMatchObject({ status: 'started', number_of_requested_runs: 2 });
    expect((await copies()).map((run) => originalRunId(run)).sort()).toEqual(wanted.sort());
    // It takes no more, so that another may have the baseline.
    await startTest({ id: 'next' });
  });

  test('that is started after its time to begin copies from its start on', async () => {
    await start(NO_SLOTS);
    const begin = { start_events: { time: at(60_000) } };
    expectStatus(await calls.create(draft(begin)), 201);
    clock.advance(120_000);
    await make();
    expectStatus(await calls.start('test'), 204);
    const wanted = await make();
    await waitForCopies(1);
    expect((await copies()).map((run) => originalRunId(run))).toEqual([wanted]);
    expect(await calls.get('test/metadata')).toMatchObject({ ...begin, started_at: at(120_000) });
  });

  test('without a copy is over with its time', async () => {
    await start();
    await startTest({ termination_events: { maximum_runs: 10, time: at(60_000) } });
    clock.advance(59_999);
    expect(await calls.status('test')).toBe('started');
    clock.advance(1);
    expect(await calls.get('test/metadata')).toMatchObject({ status: 'completed', completed_at: at(60_000) });
    expectStatus(
      await calls.create(draft({ id: 'late', termination_events: { maximum_runs: 1, time: at(60_001) } })),
      201,
    );
    clock.advance(1);
    expectError(await calls.start('late'), 400, 'termination_events.time');
  });
});

describe('the end of a test', () => {
  test('a stop completes it at once, and copies under way still count', async () => {
    await start(NO_SLOTS);
    expectStatus(await calls.create(draft()), 201);
    expectError(await calls.stop('test'), 400, 'draft');
    expectStatus(await calls.start('test'), 204);
    const originals = [await make(100), await make(200)];
    expectStatus(await calls.stop('test'), 204);
    expectStatus(await calls.stop('test', { intent: 'complete' }), 204);
    expectError(await calls.stop('test', { intent: 'cancel' }), 400, 'completed');
    await make(300);
    expect(await calls.get('test/metadata')).toMatchObject({
      status: 'completed',
      number_of_requested_runs: 2,
    });
    await server.restart({ SWITCHYARD_CAPACITY: '6c9500mb870s=2' });
    await server.waitUntil(
      'runs-ended',
      async () => (await calls.get('test/metadata')).number_of_completed_runs === 2,
    );
    for (const id of originals) await waitForRunEnd(server, 'app', id);
    expect(await calls.get('test')).toMatchObject({
      compared: [{ indicators: [{ inputs: { usable: 2, wins: 2 } }, {}] }],
    });
  });

  test('a cancel cancels the copies that have not ended, and no original', async () => {
    await start(NO_SLOTS);
    await startTest();
    const originals = [await make(), await make()];
    await waitForCopies(2);
    expectStatus(await calls.stop('test', { intent: 'cancel' }), 204);
    await server.waitUntil(
      'runs-ended',
      async () => (await calls.get('test/metadata')).number_of_completed_runs === 2,
    );
    expect((await copies()).map((run) => run.status_v2)).toEqual(['canceled', 'canceled']);
    for (const id of originals)
      expect((await server.request('GET', `/v1/applications/app/runs/${id}/metadata`)).body).toMatchObject({
        status_v2: 'queued',
      });
    expect(await calls.status('test')).toBe('canceled');
  });

  test.each([
    ['in the middle', async () => {}],
    ['when it is over', async () => expectStatus(await calls.stop('test'), 204)],
  ])('deleting it %s removes its copies and nothing else', async (_, before) => {
    await start(NO_SLOTS);
    await startTest();
    const originals = [await make(), await make()];
    const made = await server.waitUntil('runs-queued', async () => {
      const seen = await copies();
      return seen.length === 2 ? seen : null;
    });
    await before();
    expectStatus(await calls.remove('test'), 204);
    await make();
    await server.waitUntil('runs-canceled', async () => {
      const statuses = await Promise.all(
        made.map(async (run) => (await server.request('GET', `/v1/applications/app/runs/${run.id}`)).status),
      );
      return statuses.every((status) => status === 404);
    });
    for (const id of originals)
      expectStatus(await server.request('GET', `/v1/applications/app/runs/${id}`), 200);
    const { read } = server.runningServer.database;
    for (const table of ['run_routes', 'captured_runs', 'planned_runs', 'unsettled_experiments'] as const)
      expect(await read.selectFrom(table).selectAll().execute()).toEqual([]);
  });
});
