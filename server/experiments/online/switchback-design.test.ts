/** The design of a switchback test: its settings, plans that cannot give a verdict, and plans that someone chose. */
import { switchbackOperations } from '@switchyard/contract/experiments/switchback-tests.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMPARISON, createOnlineTestApp, onlineTestCalls } from '../../testing/fixtures/online-tests.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const MINUTE = 60_000;

let server: TestServer;
let clock: ManualClock;
beforeAll(async () => {
  clock = createManualClock(Date.UTC(2026, 0, 5, 8));
  server = await startTestServer({ clock });
  await createOnlineTestApp(server);
});
afterAll(() => server.close());
const calls = onlineTestCalls(() => server, 'switchback');

interface Draft {
  warnings: string[];
  stopped_early: boolean;
  plan: {
    units: { instance_id: string }[];
    seed: string;
    design: string;
    carry_over_units: number;
    burn_in_minutes: number;
    redraws: number;
  };
}
const draft = (id: string, plan: object, overrides: object = {}) => ({
  id,
  name: `Test ${id}`,
  comparison: COMPARISON,
  generate_random_plan: { unit_duration_minutes: 60, units: 24, ...plan },
  ...overrides,
});
async function create(id: string, plan: object = {}, overrides: object = {}): Promise<Draft> {
  const response = await calls.create(draft(id, plan, overrides));
  expectStatus(response, 201);
  return response.body as Draft;
}

describe('the design', () => {
  test('is blocked with a carry-over of one unit and no burn-in by default', async () => {
    const created = await create('default');
    expect(created).toMatchObject({
      warnings: [],
      stopped_early: false,
      plan: { design: 'blocked', carry_over_units: 1, burn_in_minutes: 0 },
    });
    // One coin for two blocks of two units: of four units each instance serves two, in one stretch.
    const letters = created.plan.units.map(({ instance_id }) => instance_id[0]).join('');
    expect(letters).toMatch(/^(bbcc|ccbb){6}$/);
    const { warnings, ...body } = await calls.get('default/metadata');
    expect({ warnings, ...body }).toEqual(created);
    expectStatus(await calls.remove('default'), 204);
  });

  test('is that of the request', async () => {
    const settings = { design: 'regular', carry_over_units: 2, burn_in_minutes: 12.5, units: 40 };
    const { plan } = await create('regular', settings);
    expect(plan).toMatchObject({ design: 'regular', carry_over_units: 2, burn_in_minutes: 12.5 });
    // Stretches of 4, then of 2, then of 4 units.
    const letters = plan.units.map(({ instance_id }) => instance_id[0]).join('');
    expect(letters).toMatch(/^(bbbb|cccc)(bb|cc){16}(bbbb|cccc)$/);
    expectStatus(await calls.remove('regular'), 204);
    const nulls = { design: null, carry_over_units: null, burn_in_minutes: null };
    expect((await create('nulls', nulls)).plan).toMatchObject({ design: 'blocked', carry_over_units: 1 });
    expectStatus(await calls.remove('nulls'), 204);
  });

  test.each([
    [{ design: 'alternating' }, 'generate_random_plan.design'],
    [{ carry_over_units: -1 }, 'generate_random_plan.carry_over_units'],
    [{ carry_over_units: 0.5 }, 'generate_random_plan.carry_over_units'],
    [{ burn_in_minutes: 60 }, 'generate_random_plan.burn_in_minutes is 60; it must be less than'],
    [{ burn_in_minutes: -1 }, 'generate_random_plan.burn_in_minutes'],
  ])('is rejected: %o', async (settings, message) => {
    expectError(await calls.create(draft('invalid', settings)), 400, message);
  });
});

describe('a plan that cannot give a verdict', () => {
  const direction = { objectives: { 'result.value': 'minimize' } };
  test.each<[string, object, object, string]>([
    ['carry_over_units', { units: 12, carry_over_units: 1 }, {}, 'a verdict needs at least 18 units'],
    ['design', { units: 9, design: 'independent', carry_over_units: 0 }, {}, 'at least 10 units'],
    ['burn_in_minutes', { units: 12, burn_in_minutes: 5 }, {}, 'at least 18 units'],
    ['primary', { units: 2 }, { ...direction, primary: 'result.value' }, 'at least 18 units'],
    ['guardrails', { units: 2 }, { ...direction, guardrails: ['result.value'] }, 'at least 18 units'],
    [
      'objective settings',
      { units: 2 },
      { objectives: { a: { direction: 'minimize' } } },
      'at least 18 units',
    ],
    [
      'a long carry-over',
      { units: 24, design: 'independent', carry_over_units: 20 },
      {},
      'no plan of at most 1000 units gives a verdict',
    ],
  ])('is refused for a request with %s', async (_, plan, overrides, message) => {
    expectError(
      await calls.create(draft('short', plan, overrides)),
      400,
      'is given, but a plan of',
      'can never give a verdict',
      message,
    );
  });

  test('is accepted with a warning from a client of the specification, at creation, on reading and in the results', async () => {
    const created = await create('short', { units: 2 });
    const warning =
      'A plan of 2 units can never give a verdict. With the design blocked and carry_over_units 1, a verdict needs at least 18 units; create a test with that many.';
    expect(created.warnings).toContain(warning);
    expect((await calls.get('short/metadata')).warnings).toContain(warning);
    expect((await calls.get('short')).warnings).toContain(warning);
    expectStatus(await calls.remove('short'), 204);
  });

  test('is not the example of the documentation', async () => {
    const { body } = switchbackOperations.createSwitchbackTest;
    const created = await create('example', body.example.generate_random_plan);
    expect(created.warnings).not.toContainEqual(expect.stringContaining('can never give a verdict'));
    expectStatus(await calls.remove('example'), 204);
    const { plan, warnings } = switchbackOperations.createSwitchbackTest.responses[201].example;
    expect(warnings).toEqual([]);
    expect(plan.units.map(({ instance_id }) => instance_id[0]).join('')).toMatch(/^(ccpp|ppcc){5}$/);
  });
});

test('D13: redraws of a visible plan are counted, shown and warned of', async () => {
  // No other test uses these two instances.
  const params = { application_id: 'app' };
  for (const id of ['drawn-control', 'drawn-candidate'])
    await server.client.call('createInstance', { params, body: { id, name: id, version_id: 'v1' } });
  const comparison = { baseline_instance_id: 'drawn-control', candidate_instance_id: 'drawn-candidate' };
  const createDraft = (id: string) => create(id, { unit_duration_minutes: 1, units: 20 }, { comparison });
  const readRedraws = async (id: string) => ((await calls.get(id)).plan as Draft['plan']).redraws;

  expect((await createDraft('first')).plan.redraws).toBe(0);
  expectStatus(await calls.remove('first'), 204);
  expect((await createDraft('second')).plan.redraws).toBe(1);
  // A draft that stays is a visible plan too, also one that follows.
  expect((await createDraft('third')).plan.redraws).toBe(2);
  expectStatus(await calls.start('second'), 204);
  expect(await readRedraws('second')).toBe(2);
  const warning =
    'These two instances had 2 other plans, and none ran to its end. A choice between visible plans is a choice of the result.';
  expect((await calls.get('second')).warnings).toContain(warning);
  expect((await calls.get('second/metadata')).warnings).toEqual([warning]);
  // Another pair of instances has its own count.
  const reverse = { baseline_instance_id: 'drawn-candidate', candidate_instance_id: 'drawn-control' };
  expect((await create('reverse', {}, { comparison: reverse })).plan.redraws).toBe(0);

  clock.advance(20 * MINUTE);
  expect(await calls.waitForStatus('second', 'completed')).toMatchObject({ stopped_early: false });
  expect(await readRedraws('second')).toBe(2);
  // A plan that ran to its end begins the count again; one that was stopped does not.
  expect((await createDraft('fourth')).plan.redraws).toBe(0);
  expectStatus(await calls.start('fourth'), 204);
  expectStatus(await calls.stop('fourth'), 204);
  expect(await calls.get('fourth/metadata')).toMatchObject({ status: 'completed', stopped_early: true });
  expect((await createDraft('fifth')).plan.redraws).toBe(1);
});

test('the counts of plans are removed with the application', async () => {
  await createOnlineTestApp(server, 'removed');
  const other = onlineTestCalls(() => server, 'switchback', 'removed');
  expectStatus(await other.create(draft('test', {})), 201);
  const { read } = server.runningServer.database;
  const find = (uid: string) =>
    read.selectFrom('switchback_draws').select('plans').where('application_uid', '=', uid).execute();
  const application = await read
    .selectFrom('applications')
    .select('uid')
    .where('id', '=', 'removed' as never)
    .executeTakeFirstOrThrow();
  expect(await find(application.uid)).toEqual([{ plans: 1 }]);
  expectStatus(await server.request('DELETE', '/v1/applications/removed'), 204);
  await expect.poll(() => find(application.uid)).toEqual([]);
});
