/** Switchback tests, from the plan to the results, told through the API. */
import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { createOnlineTestApp, onlineTestCalls } from '../../testing/fixtures/online-tests.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { drawUnits } from './define-online-tests.ts';

const START = Date.UTC(2026, 0, 5, 8);
const MINUTE = 60_000;
const at = (ms: number) => new Date(START + ms).toISOString();
const NO_SLOTS = { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' };

let server: TestServer;
let clock: ManualClock;
afterEach(() => server.close());
const calls = onlineTestCalls(() => server, 'switchback');

async function start(env: Record<string, string> = {}): Promise<void> {
  clock = createManualClock(START);
  server = await startTestServer({ clock, env });
  await createOnlineTestApp(server);
}
const comparison = { baseline_instance_id: 'baseline', candidate_instance_id: 'candidate' };
const draft = (more: object = {}) => ({
  id: 'test',
  name: 'Earlier dispatch',
  comparison,
  generate_random_plan: { unit_duration_minutes: 30, units: 4 },
  ...more,
});
interface Plan {
  start?: string;
  seed: string;
  units: { index: number; duration_minutes: number; instance_id: string }[];
}
async function startTest(more: object = {}): Promise<Plan> {
  expectStatus(await calls.create(draft(more)), 201);
  const id = (more as { id?: string }).id ?? 'test';
  expectStatus(await calls.start(id), 204);
  return (await calls.get(id)).plan as Plan;
}
const make = (cost = 100) => createRun(server, 'app', { instance: 'baseline', input: { cost } });
const metadata = async (run: string) =>
  (
    (await server.request('GET', `/v1/applications/app/runs/${run}/metadata`)).body as {
      metadata: Record<string, unknown>;
    }
  ).metadata;

describe('a plan', () => {
  test('is shown with the draft, listed as items, and kept when the draft is renamed', async () => {
    await start();
    const made = await calls.create(
      draft({ generate_random_plan: { unit_duration_minutes: 10_080, units: 1000, start: at(MINUTE) } }),
    );
    expectStatus(made, 201);
    const shown = made.body as { plan: Plan };
    expect(shown).toMatchObject({ status: 'draft', comparison, plan: { start: at(MINUTE) } });
    expect(shown.plan.units).toEqual(
      drawUnits(shown.plan.seed, 1000, 'baseline', 'candidate').map((instance_id, index) => ({
        index,
        duration_minutes: 10_080,
        instance_id,
      })),
    );
    const renamed = await server.request('PATCH', `${calls.root}/test`, { body: { name: 'Renamed' } });
    expect(renamed.body).toEqual({ ...shown, name: 'Renamed' });
    expect((await server.request('GET', calls.root)).body).toEqual({ items: [renamed.body] });
    expect(await calls.get('test/metadata')).toEqual(renamed.body);
    expectStatus(await calls.remove('test'), 204);
    expectError(await calls.start('test'), 404, 'switchback test "test"');
  });
});

describe('a started test', () => {
  test('serves every run by the instance of its unit, to the millisecond, and ends with its plan', async () => {
    await start(NO_SLOTS);
    const { units, start: begins } = await startTest();
    expect(begins).toBe(at(0));
    const looked: [run: string, unit: number | null][] = [];
    for (const { index } of units) {
      looked.push([await make(), index]);
      clock.advance(30 * MINUTE - 1);
      looked.push([await make(), index]);
      clock.advance(1);
    }
    looked.push([await make(), null]);
    for (const [run, unit] of looked) {
      const { application_instance_id, experiment_id, experiment_type, plan_unit_index } =
        await metadata(run);
      expect({ application_instance_id, experiment_id, experiment_type, plan_unit_index }).toEqual(
        unit === null
          ? { application_instance_id: 'baseline' }
          : {
              application_instance_id: units[unit]?.instance_id,
              experiment_id: 'test',
              experiment_type: 'switchback',
              plan_unit_index: unit,
            },
      );
    }
    expect(await calls.get('test/metadata')).toMatchObject({
      status: 'completed',
      started_at: at(0),
      completed_at: at(4 * 30 * MINUTE),
      number_of_runs: 8,
      number_of_requested_runs: 8,
    });
    const runs = await calls.runs('test');
    expect(runs.map((run) => run.plan_unit_index)).toEqual([3, 3, 2, 2, 1, 1, 0, 0]);
  });

  test('ends by itself when nobody asks', async () => {
    await start();
    await startTest({ generate_random_plan: { unit_duration_minutes: 1, units: 1 } });
    const status = async () =>
      (await server.runningServer.database.read.selectFrom('experiments').select('status').executeTakeFirst())
        ?.status;
    clock.advance(MINUTE - 1);
    expect(await status()).toBe('started');
    clock.advance(1);
    await server.waitUntil('runs-ended', async () => (await status()) === 'completed');
    await startTest({ id: 'next' });
  });

  test('D1: has units of minutes and a half', async () => {
    await start(NO_SLOTS);
    const plan = { unit_duration_minutes: 1.5, units: 2 };
    const { units } = await startTest({ generate_random_plan: plan });
    expect(units.map((unit) => unit.duration_minutes)).toEqual([1.5, 1.5]);
    const unitNow = async () => (await metadata(await make())).plan_unit_index;
    clock.advance(1.5 * MINUTE - 1);
    expect(await unitNow()).toBe(0);
    clock.advance(1);
    expect(await unitNow()).toBe(1);
    clock.advance(1.5 * MINUTE - 1);
    expect((await calls.get('test/metadata')).status).toBe('started');
    clock.advance(1);
    const over = await calls.get('test/metadata');
    expect(over).toMatchObject({ status: 'completed', completed_at: at(3 * MINUTE) });
    // What is no whole number of milliseconds is rounded: no clock and no table has parts of one.
    await startTest({ id: 'odd', generate_random_plan: { unit_duration_minutes: 1.000_001, units: 1 } });
    clock.advance(MINUTE);
    expect((await calls.get('odd/metadata')).completed_at).toBe(at(4 * MINUTE));
  });

  test('that is to begin later leaves runs alone until then', async () => {
    await start(NO_SLOTS);
    const { units } = await startTest({
      generate_random_plan: { unit_duration_minutes: 1, units: 2, start: at(MINUTE) },
    });
    const before = await make();
    clock.advance(MINUTE);
    const first = await make();
    expect((await metadata(before)).experiment_id).toBeUndefined();
    expect(await metadata(first)).toMatchObject({
      application_instance_id: units[0]?.instance_id,
      plan_unit_index: 0,
    });
  });

  test('that is started in the middle of its plan has lost the units before, and counts from then on', async () => {
    await start();
    const plan = { unit_duration_minutes: 1, units: 4, start: at(MINUTE) };
    const made = await calls.create(draft({ generate_random_plan: plan }));
    expectStatus(made, 201);
    const { units } = (made.body as { plan: Plan }).plan;
    clock.advance(3.5 * MINUTE);
    const before = await make(1);
    expectStatus(await calls.start('test'), 204);
    expect(await calls.get('test/metadata')).toMatchObject({
      started_at: at(3.5 * MINUTE),
      plan: { start: at(MINUTE), units },
    });
    const sent = [await make(50)];
    clock.advance(MINUTE);
    sent.push(await make(70));
    for (const run of [before, ...sent]) await waitForRunEnd(server, 'app', run);
    clock.advance(0.5 * MINUTE);
    const found = await server.waitUntil('runs-ended', async () => {
      const shown = await calls.get('test');
      return shown.status === 'completed' ? shown : null;
    });
    expect(found).toMatchObject({ completed_at: at(5 * MINUTE), number_of_runs: 2 });
    expect((await metadata(before)).experiment_id).toBeUndefined();
    const [compared] = found.compared as SwitchbackComparison[];
    expect(compared?.units).toEqual(
      [
        [2, 50],
        [3, 70],
      ].map(([index = 0, cost = 0]) => {
        const { instance_id = '' } = units[index] ?? {};
        return { index, instance_id, runs: 1, mean: cost - (instance_id === 'candidate' ? 10 : 0) };
      }),
    );
  });

  test('whose plan has the zero time for a start begins when it is started', async () => {
    await start();
    const plan = { unit_duration_minutes: 1, units: 1, start: '0001-01-01T00:00:00Z' };
    const made = await calls.create(draft({ generate_random_plan: plan }));
    expectStatus(made, 201);
    expect((made.body as { plan: Plan }).plan).not.toHaveProperty('start');
    clock.advance(MINUTE);
    expectStatus(await calls.start('test'), 204);
    expect(await calls.get('test/metadata')).toMatchObject({ plan: { start: at(MINUTE) } });
  });

  test('is started once: 304 then; not after its plan, and not on a baseline that is taken', async () => {
    await start();
    const late = { id: 'late', generate_random_plan: { unit_duration_minutes: 1, units: 1, start: at(0) } };
    expectStatus(await calls.create(draft(late)), 201);
    await startTest();
    expectStatus(await calls.start('test'), 304);
    expectError(await calls.start('late'), 400, '"baseline"', 'switchback test "test"');
    const shadow = onlineTestCalls(() => server, 'shadow');
    expectStatus(
      await shadow.create({
        id: 'shadow',
        name: 'Shadow',
        comparison,
        termination_events: { maximum_runs: 1 },
      }),
      201,
    );
    expectError(await shadow.start('shadow'), 400, 'switchback test "test"');
    expectError(await calls.stop('late'), 400, 'draft');
    expectStatus(await calls.stop('test'), 204);
    expectStatus(await calls.stop('test', { intent: 'complete' }), 204);
    expectError(await calls.stop('test', { intent: 'cancel' }), 400, 'completed');
    expectError(await calls.start('test'), 400, 'completed');
    clock.advance(MINUTE);
    expectError(await calls.start('late'), 400, 'The plan ended');
    expectStatus(await shadow.start('shadow'), 204);
  });

  test('that is stopped sends no more runs, and those it sent go on', async () => {
    await start();
    await startTest();
    const run = await make();
    expectStatus(await calls.stop('test', { intent: 'cancel' }), 204);
    expect((await metadata(await make())).experiment_id).toBeUndefined();
    expect(await waitForRunEnd(server, 'app', run)).toMatchObject({ status_v2: 'succeeded' });
    expect(await calls.get('test/metadata')).toMatchObject({ status: 'canceled', number_of_runs: 1 });
  });

  test('compares the units that are over, as arithmetic says, and keeps what it found', async () => {
    await start();
    const { units } = await startTest({
      generate_random_plan: { unit_duration_minutes: 1, units: 12 },
      objectives: { 'result.value': 'minimize' },
    });
    const runs: string[] = [];
    for (const { index } of units) {
      runs.push(await make(100 + index), await make(102 + index));
      clock.advance(MINUTE);
    }
    for (const run of runs) await waitForRunEnd(server, 'app', run);
    // The candidate takes 10 off; a unit has the mean of its two runs.
    const means = units.map(({ index, instance_id }) => ({
      index,
      instance_id,
      runs: 2,
      mean: 101 + index - (instance_id === 'candidate' ? 10 : 0),
    }));
    const mean = (id: string) => {
      const own = means.filter((unit) => unit.instance_id === id).map((unit) => unit.mean);
      return own.length === 0 ? null : own.reduce((sum, value) => sum + value, 0) / own.length;
    };
    const found = await server.waitUntil('runs-ended', async () => {
      const shown = await calls.get('test');
      return shown.status === 'completed' ? shown : null;
    });
    const [compared] = found.compared as SwitchbackComparison[];
    expect(compared).toMatchObject({ indicator: 'result.value', units: means });
    const [control, candidate] = [mean('baseline'), mean('candidate')];
    expect(compared?.control.mean).toEqual(control === null ? null : expect.closeTo(control, 9));
    expect(compared?.candidate.mean).toEqual(candidate === null ? null : expect.closeTo(candidate, 9));
    for (const run of runs) await server.request('DELETE', `/v1/applications/app/runs/${run}`);
    expect((await calls.get('test')).compared).toEqual(found.compared);
  });
});

test('deleting a test keeps its runs and takes its marks off them', async () => {
  await start(NO_SLOTS);
  await startTest();
  const made = await Promise.all([make(), make(), make()]);
  // Runs that are made while it is deleted are its own no more, or are found by the removal.
  const [gone, ...more] = await Promise.all([
    calls.remove('test'),
    ...Array.from({ length: 10 }, () => make()),
  ]);
  expectStatus(gone, 204);
  const { read } = server.runningServer.database;
  await server.waitUntil('runs-queued', async () => {
    await make();
    const marked = await read
      .selectFrom('runs')
      .select('id')
      .where('experiment_id', 'is not', null)
      .execute();
    return marked.length === 0;
  });
  for (const run of [...made, ...more]) {
    const shown = await metadata(run);
    expect([shown.experiment_id, shown.plan_unit_index, shown.status_v2]).toEqual([
      undefined,
      undefined,
      'queued',
    ]);
  }
  expect(await read.selectFrom('run_routes').selectAll().execute()).toEqual([]);
  await startTest();
  expect(await calls.runs('test')).toEqual([]);
});

test('a viewer reads, an operator acts, and another account finds nothing', async () => {
  await start();
  const { token: viewer } = await server.createKey('viewer');
  const { token: operator } = await server.createKey('operator');
  const ask = (method: string, path: string, token: string, body?: object) =>
    server.request(method, `${calls.root}${path}`, { token, ...(body ? { body } : {}) });
  expectError(await ask('POST', '', viewer, draft()), 403);
  expectStatus(await ask('POST', '', operator, draft()), 201);
  expectError(await ask('PUT', '/test/start', viewer), 403);
  expectStatus(await ask('PUT', '/test/start', operator), 204);
  expectStatus(await ask('GET', '/test', viewer), 200);
  expectError(await ask('PUT', '/test/stop', viewer), 403);
  const { token } = await createOtherAccount(server);
  expectError(await ask('GET', '/test', token), 404);
  expectError(await ask('PUT', '/test/stop', token), 404);
  expect(await calls.status('test')).toBe('started');
});
