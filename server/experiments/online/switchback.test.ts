/** Switchback tests through the API, from the plan to the results. */
import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { createOnlineTestApp, onlineTestCalls } from '../../testing/fixtures/online-tests.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { drawPlan } from '../statistics/switchback/plan-units.ts';

const START = Date.UTC(2026, 0, 5, 8);
const MINUTE = 60_000;
const at = (ms: number) => new Date(START + ms).toISOString();
/** No slot for runs, so they stay queued. */
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
const draft = (overrides: object = {}) => ({
  id: 'test',
  name: 'Earlier dispatch',
  comparison,
  generate_random_plan: { unit_duration_minutes: 30, units: 4 },
  ...overrides,
});
interface Plan {
  start?: string;
  seed: string;
  units: { index: number; duration_minutes: number; instance_id: string }[];
}
async function startTest(overrides: { id?: string; [field: string]: unknown } = {}): Promise<Plan> {
  expectStatus(await calls.create(draft(overrides)), 201);
  const { id = 'test' } = overrides;
  expectStatus(await calls.start(id), 204);
  return (await calls.get(id)).plan as Plan;
}
const submitRun = (cost = 100) => createRun(server, 'app', { instance: 'baseline', input: { cost } });
const readMetadata = async (run: string) =>
  (
    (await server.request('GET', `/v1/applications/app/runs/${run}/metadata`)).body as {
      metadata: Record<string, unknown>;
    }
  ).metadata;

describe('a plan', () => {
  test('is part of the draft and of the list, and stays when the draft is renamed', async () => {
    await start();
    const response = await calls.create(
      draft({ generate_random_plan: { unit_duration_minutes: 10_080, units: 1000, start: at(MINUTE) } }),
    );
    expectStatus(response, 201);
    const created = response.body as { plan: Plan };
    expect(created).toMatchObject({ status: 'draft', comparison, plan: { start: at(MINUTE) } });
    const design = { kind: 'blocked', carryOverUnits: 1, units: 1000, unitMinutes: 10_080 } as const;
    expect(created.plan.units).toEqual(
      Array.from(drawPlan(design, created.plan.seed), (side, index) => ({
        index,
        duration_minutes: 10_080,
        instance_id: side === 1 ? 'candidate' : 'baseline',
      })),
    );
    const renamed = await server.request('PATCH', `${calls.root}/test`, { body: { name: 'Renamed' } });
    expect(renamed.body).toEqual({ ...created, name: 'Renamed' });
    expect((await server.request('GET', calls.root)).body).toEqual({ items: [renamed.body] });
    expect(await calls.get('test/metadata')).toEqual(renamed.body);
    expectStatus(await calls.remove('test'), 204);
    expectError(await calls.start('test'), 404, 'switchback test "test"');
  });
});

describe('a started test', () => {
  test('routes every run to the instance of its unit, exact to the millisecond, and ends with its plan', async () => {
    await start(NO_SLOTS);
    const { units, start: planStart } = await startTest();
    expect(planStart).toBe(at(0));
    const submitted: [run: string, unit: number | null][] = [];
    for (const { index } of units) {
      submitted.push([await submitRun(), index]);
      clock.advance(30 * MINUTE - 1);
      submitted.push([await submitRun(), index]);
      clock.advance(1);
    }
    submitted.push([await submitRun(), null]);
    for (const [run, unit] of submitted) {
      const { application_instance_id, experiment_id, experiment_type, plan_unit_index } =
        await readMetadata(run);
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

  test('ends without a request that reads it', async () => {
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

  test('D1: has units of fractions of a minute', async () => {
    await start(NO_SLOTS);
    const plan = { unit_duration_minutes: 1.5, units: 2 };
    const { units } = await startTest({ generate_random_plan: plan });
    expect(units.map((unit) => unit.duration_minutes)).toEqual([1.5, 1.5]);
    const submitAndReadUnit = async () => (await readMetadata(await submitRun())).plan_unit_index;
    clock.advance(1.5 * MINUTE - 1);
    expect(await submitAndReadUnit()).toBe(0);
    clock.advance(1);
    expect(await submitAndReadUnit()).toBe(1);
    clock.advance(1.5 * MINUTE - 1);
    expect((await calls.get('test/metadata')).status).toBe('started');
    clock.advance(1);
    const ended = await calls.get('test/metadata');
    expect(ended).toMatchObject({ status: 'completed', completed_at: at(3 * MINUTE) });
    // A unit has a whole number of milliseconds, because clocks and tables store no fractions.
    await startTest({ id: 'odd', generate_random_plan: { unit_duration_minutes: 1.000_001, units: 1 } });
    clock.advance(MINUTE);
    expect((await calls.get('odd/metadata')).completed_at).toBe(at(4 * MINUTE));
  });

  test('that begins later does not route runs before its start', async () => {
    await start(NO_SLOTS);
    const { units } = await startTest({
      generate_random_plan: { unit_duration_minutes: 1, units: 2, start: at(MINUTE) },
    });
    const before = await submitRun();
    clock.advance(MINUTE);
    const first = await submitRun();
    expect((await readMetadata(before)).experiment_id).toBeUndefined();
    expect(await readMetadata(first)).toMatchObject({
      application_instance_id: units[0]?.instance_id,
      plan_unit_index: 0,
    });
  });

  test('that starts during its plan skips the earlier units', async () => {
    await start();
    const plan = { unit_duration_minutes: 1, units: 4, start: at(MINUTE) };
    const response = await calls.create(draft({ generate_random_plan: plan }));
    expectStatus(response, 201);
    const { units } = (response.body as { plan: Plan }).plan;
    clock.advance(3.5 * MINUTE);
    const before = await submitRun(1);
    expectStatus(await calls.start('test'), 204);
    expect(await calls.get('test/metadata')).toMatchObject({
      started_at: at(3.5 * MINUTE),
      plan: { start: at(MINUTE), units },
    });
    const routed = [await submitRun(50)];
    clock.advance(MINUTE);
    routed.push(await submitRun(70));
    for (const run of [before, ...routed]) await waitForRunEnd(server, 'app', run);
    clock.advance(0.5 * MINUTE);
    const test = await server.waitUntil('runs-ended', async () => {
      const results = await calls.get('test');
      return results.status === 'completed' ? results : null;
    });
    expect(test).toMatchObject({ completed_at: at(5 * MINUTE), number_of_runs: 2 });
    expect((await readMetadata(before)).experiment_id).toBeUndefined();
    const [compared] = test.compared as SwitchbackComparison[];
    expect(compared?.units).toEqual(
      [
        [2, 50],
        [3, 70],
      ].map(([index = 0, cost = 0]) => {
        const { instance_id = '' } = units[index] ?? {};
        const mean = cost - (instance_id === 'candidate' ? 10 : 0);
        // The baseline served the units before the start, so a candidate that begins then begins with a switch.
        const counted = instance_id === (index === 2 ? 'baseline' : units[2]?.instance_id);
        return { index, instance_id, runs: 1, mean, counted };
      }),
    );
  });

  test('with the zero time as the start of its plan begins with its start', async () => {
    await start();
    const plan = { unit_duration_minutes: 1, units: 1, start: '0001-01-01T00:00:00Z' };
    const response = await calls.create(draft({ generate_random_plan: plan }));
    expectStatus(response, 201);
    expect((response.body as { plan: Plan }).plan).not.toHaveProperty('start');
    clock.advance(MINUTE);
    expectStatus(await calls.start('test'), 204);
    expect(await calls.get('test/metadata')).toMatchObject({ plan: { start: at(MINUTE) } });
  });

  test('responds to a second start with 304, and to a start after its plan or on a used baseline with 400', async () => {
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

  test('routes no runs after a stop, and the routed ones continue', async () => {
    await start();
    await startTest();
    const run = await submitRun();
    expectStatus(await calls.stop('test', { intent: 'cancel' }), 204);
    expect((await readMetadata(await submitRun())).experiment_id).toBeUndefined();
    expect(await waitForRunEnd(server, 'app', run)).toMatchObject({ status_v2: 'succeeded' });
    expect(await calls.get('test/metadata')).toMatchObject({ status: 'canceled', number_of_runs: 1 });
  });

  test('compares the ended units as computed by hand, and stores the results', async () => {
    await start();
    const { units } = await startTest({
      generate_random_plan: { unit_duration_minutes: 1, units: 12 },
      objectives: { 'result.value': 'minimize' },
    });
    const runs: string[] = [];
    for (const { index } of units) {
      runs.push(await submitRun(100 + index), await submitRun(102 + index));
      clock.advance(MINUTE);
    }
    for (const run of runs) await waitForRunEnd(server, 'app', run);
    // The candidate subtracts 10; the value of a unit is the mean of its two runs. The first unit after a switch does not
    // count, and before the plan the baseline served.
    const means = units.map(({ index, instance_id }) => ({
      index,
      instance_id,
      runs: 2,
      mean: 101 + index - (instance_id === 'candidate' ? 10 : 0),
      counted: instance_id === (units[index - 1]?.instance_id ?? 'baseline'),
    }));
    const computeMean = (id: string) => {
      const values = means.filter((unit) => unit.counted && unit.instance_id === id).map((unit) => unit.mean);
      return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
    };
    const test = await server.waitUntil('runs-ended', async () => {
      const results = await calls.get('test');
      return results.status === 'completed' ? results : null;
    });
    const [compared] = test.compared as SwitchbackComparison[];
    expect(compared).toMatchObject({ indicator: 'result.value', units: means });
    const [control, candidate] = [computeMean('baseline'), computeMean('candidate')];
    expect(compared?.control.mean).toEqual(control === null ? null : expect.closeTo(control, 9));
    expect(compared?.candidate.mean).toEqual(candidate === null ? null : expect.closeTo(candidate, 9));
    for (const run of runs) await server.request('DELETE', `/v1/applications/app/runs/${run}`);
    expect((await calls.get('test')).compared).toEqual(test.compared);
  });
});

test('the deletion of a test detaches its runs and does not delete them', async () => {
  await start(NO_SLOTS);
  await startTest();
  const routed = await Promise.all([submitRun(), submitRun(), submitRun()]);
  // The deletion also detaches runs that are submitted concurrently.
  const [deletion, ...concurrent] = await Promise.all([
    calls.remove('test'),
    ...Array.from({ length: 10 }, () => submitRun()),
  ]);
  expectStatus(deletion, 204);
  const { read } = server.runningServer.database;
  await server.waitUntil('runs-queued', async () => {
    await submitRun();
    const attached = await read
      .selectFrom('runs')
      .select('id')
      .where('experiment_id', 'is not', null)
      .execute();
    return attached.length === 0;
  });
  for (const run of [...routed, ...concurrent]) {
    const metadata = await readMetadata(run);
    expect([metadata.experiment_id, metadata.plan_unit_index, metadata.status_v2]).toEqual([
      undefined,
      undefined,
      'queued',
    ]);
  }
  expect(await read.selectFrom('run_routes').selectAll().execute()).toEqual([]);
  await startTest();
  expect(await calls.runs('test')).toEqual([]);
});

test('viewers can read, operators can write, and other accounts get a 404', async () => {
  await start();
  const { token: viewer } = await server.createKey('viewer');
  const { token: operator } = await server.createKey('operator');
  const request = (method: string, path: string, token: string, body?: object) =>
    server.request(method, `${calls.root}${path}`, { token, ...(body ? { body } : {}) });
  expectError(await request('POST', '', viewer, draft()), 403);
  expectStatus(await request('POST', '', operator, draft()), 201);
  expectError(await request('PUT', '/test/start', viewer), 403);
  expectStatus(await request('PUT', '/test/start', operator), 204);
  expectStatus(await request('GET', '/test', viewer), 200);
  expectError(await request('PUT', '/test/stop', viewer), 403);
  const { token } = await createOtherAccount(server);
  expectError(await request('GET', '/test', token), 404);
  expectError(await request('PUT', '/test/stop', token), 404);
  expect(await calls.status('test')).toBe('started');
});
