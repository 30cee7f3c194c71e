/** Shadow tests through the API, from the draft to the results. */
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
/** No slot for runs, so they stay queued. */
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
const submitRun = (cost = 100, body: object = {}) =>
  createRun(server, 'app', { instance: 'baseline', input: { cost }, body: { ...body } });

describe('a draft', () => {
  test('is returned in both forms, listed, renamed and deleted', async () => {
    await start();
    const created = await calls.create(
      draft({
        start_events: { time: at(60_000) },
        termination_events: { maximum_runs: 10, time: at(120_000) },
        objectives: { 'result.value': 'minimize' },
      }),
    );
    expectStatus(created, 201);
    const expected = {
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
      stopped_early: false,
      sample_share: 1,
      cluster_by: ['caller'],
      objectives: { 'result.value': 'minimize' },
      number_of_requested_runs: 0,
      number_of_runs: 0,
      number_of_completed_runs: 0,
      number_of_failed_runs: 0,
    };
    expect(created.body).toEqual(expected);
    clock.advance(1);
    const draftWithTwoCandidates = draft({
      id: 'other',
      comparison: null,
      comparisons: { baseline: ['candidate', 'latest'] },
      start_events: { time: '0001-01-01T00:00:00Z' },
      termination_events: { maximum_runs: 1, time: '0001-01-01T00:00:00Z' },
    });
    const other = await calls.create(draftWithTwoCandidates);
    expectStatus(other, 201);
    expect(other.body).toEqual({
      ...expected,
      id: 'other',
      created_at: at(1),
      updated_at: at(1),
      comparisons: [{ baseline_instance_id: 'baseline', candidate_instance_ids: ['candidate', 'latest'] }],
      start_events: {},
      termination_events: { maximum_runs: 1 },
      objectives: {},
    });
    expect((await server.request('GET', calls.root)).body).toMatchObject([{ id: 'other' }, expected]);
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
  test('copies runs of the baseline, compares them with their originals, and ends with the last copy', async () => {
    await start();
    await startTest({
      termination_events: { maximum_runs: 12 },
      // Equal differences of rising costs are a falling ratio, and neighbours in a series say less than 12 inputs.
      objectives: { 'result.value': { direction: 'minimize', measure: 'absolute' } },
    });
    expect(await calls.status('test')).toBe('started');
    const originals: string[] = [];
    for (let cost = 100; cost < 112; cost += 1)
      originals.push(await submitRun(cost, { options: { note: `n${cost}` }, name: `Run ${cost}` }));
    const runAboveLimit = await submitRun(1);
    for (const id of [...originals, runAboveLimit])
      expect(await waitForRunEnd(server, 'app', id)).toMatchObject({ status_v2: 'succeeded' });
    const completed = await calls.waitForStatus('test', 'completed');
    expect(completed).toMatchObject({
      started_at: at(0),
      completed_at: at(0),
      number_of_requested_runs: 12,
      number_of_runs: 12,
      number_of_completed_runs: 12,
      number_of_failed_runs: 0,
    });

    const runs = await calls.runs('test');
    expect(runs).toHaveLength(24);
    const copiedRuns = await copies();
    expect(copiedRuns.map((run) => originalRunId(run)).sort()).toEqual(originals.sort());
    for (const copy of copiedRuns) {
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

    // The candidate is better by exactly 10 for each of 12 inputs, so the verdict is certain.
    const results = await calls.get('test');
    const [compared] = results.compared as {
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
    const summaries = results.grouped_distributional_summaries as { group_values: string[]; runs: object }[];
    expect(summaries.slice(0, 2).map(({ group_values, runs: counts }) => [group_values, counts])).toEqual(
      expect.arrayContaining([
        [['baseline', 'v1'], expect.objectContaining({ total: 12, succeeded: 12 })],
        [['candidate', 'v1'], expect.objectContaining({ total: 12, succeeded: 12 })],
      ]),
    );

    // The server stores the results, so they survive the deletion of the runs.
    for (const run of runs) await server.request('DELETE', `/v1/applications/app/runs/${run.id}`);
    expect(await calls.runs('test')).toEqual([]);
    const after = await calls.get('test');
    expect(after.compared).toEqual(results.compared);
    expect(after).toMatchObject({ status: 'completed', number_of_runs: 0 });
  });

  test('responds to a second start with 304, and after its end with 400', async () => {
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

  test('prevents other tests on its baseline until its end, with an error that names it', async () => {
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

  test('copies runs from its start time up to its end time, exact to the millisecond', async () => {
    await start(NO_SLOTS);
    await startTest({
      start_events: { time: at(60_000) },
      termination_events: { maximum_runs: 10, time: at(120_000) },
    });
    await submitRun();
    clock.advance(60_000);
    const originals = [await submitRun()];
    clock.advance(59_999);
    originals.push(await submitRun());
    clock.advance(1);
    await submitRun();
    const test = await waitForCopies(2);
    expect(test).toMatchObject({ status: 'started', number_of_requested_runs: 2 });
    expect((await copies()).map((run) => originalRunId(run)).sort()).toEqual(originals.sort());
    // It captures no more runs, so another test can use the baseline.
    await startTest({ id: 'next' });
  });

  test('that starts after its planned start copies only later runs', async () => {
    await start(NO_SLOTS);
    const startEvents = { start_events: { time: at(60_000) } };
    expectStatus(await calls.create(draft(startEvents)), 201);
    clock.advance(120_000);
    await submitRun();
    expectStatus(await calls.start('test'), 204);
    const original = await submitRun();
    await waitForCopies(1);
    expect((await copies()).map((run) => originalRunId(run))).toEqual([original]);
    expect(await calls.get('test/metadata')).toMatchObject({ ...startEvents, started_at: at(120_000) });
  });

  test('without copies ends at its end time', async () => {
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
  test('a stop completes it immediately, and unfinished copies still count', async () => {
    await start(NO_SLOTS);
    expectStatus(await calls.create(draft()), 201);
    expectError(await calls.stop('test'), 400, 'draft');
    expectStatus(await calls.start('test'), 204);
    const originals = [await submitRun(100), await submitRun(200)];
    expectStatus(await calls.stop('test'), 204);
    expectStatus(await calls.stop('test', { intent: 'complete' }), 204);
    expectError(await calls.stop('test', { intent: 'cancel' }), 400, 'completed');
    await submitRun(300);
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

  test('a cancellation cancels the unfinished copies, and no original', async () => {
    await start(NO_SLOTS);
    await startTest();
    const originals = [await submitRun(), await submitRun()];
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
    ['before its end', async () => {}],
    ['after its end', async () => expectStatus(await calls.stop('test'), 204)],
  ])('its deletion %s removes its copies and nothing else', async (_, prepare) => {
    await start(NO_SLOTS);
    await startTest();
    const originals = [await submitRun(), await submitRun()];
    const copiedRuns = await server.waitUntil('runs-queued', async () => {
      const created = await copies();
      return created.length === 2 ? created : null;
    });
    await prepare();
    expectStatus(await calls.remove('test'), 204);
    await submitRun();
    await server.waitUntil('runs-canceled', async () => {
      const statuses = await Promise.all(
        copiedRuns.map(
          async (run) => (await server.request('GET', `/v1/applications/app/runs/${run.id}`)).status,
        ),
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
