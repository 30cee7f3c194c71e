/** Behaviour that shadow and switchback tests share: validation, lists and pages, roles, and concurrent requests. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun } from '../../testing/fixtures/apps.ts';
import { COMPARISON, createOnlineTestApp, onlineTestCalls } from '../../testing/fixtures/online-tests.ts';
import { expectError, expectStatus, listAllPages, uniqueId } from '../../testing/fixtures/resources.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const START = Date.UTC(2026, 0, 5, 8);
const at = (ms: number) => new Date(START + ms).toISOString();
const repeatX = (length: number) => 'x'.repeat(length);
/** Creates objectives with names of the maximum length. */
const createObjectives = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}`.padEnd(255, 'x'), 'maximize']));

let server: TestServer;
let clock: ManualClock;
beforeAll(async () => {
  clock = createManualClock(START);
  // No slot for runs, so they stay queued.
  server = await startTestServer({ clock, env: { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' } });
});
afterAll(() => server.close());

const KINDS = [
  { kind: 'shadow', required: 'termination_events', own: { termination_events: { maximum_runs: 10 } } },
  {
    kind: 'switchback',
    required: 'generate_random_plan',
    own: { generate_random_plan: { unit_duration_minutes: 30, units: 4 } },
  },
] as const;

describe.each(KINDS)('$kind tests', ({ kind, required, own }) => {
  let application: string;
  let calls: ReturnType<typeof onlineTestCalls>;
  const draft = (overrides: object = {}) => ({
    id: 'test',
    name: 'Any name',
    comparison: COMPARISON,
    ...own,
    ...overrides,
  });
  const createTest = async (id: string, overrides: object = {}): Promise<void> =>
    expectStatus(await calls.create(draft({ id, ...overrides })), 201);
  const submitRun = () => createRun(server, application, { instance: 'baseline', input: { cost: 1 } });
  const listIds = (body: unknown): string[] =>
    (Array.isArray(body) ? body : (body as { items: unknown[] }).items).map(
      (item) => (item as { id: string }).id,
    );
  const listTestIds = async (): Promise<string[]> => listIds((await server.request('GET', calls.root)).body);

  const prepare = async (): Promise<void> => {
    application = uniqueId('app');
    await createOnlineTestApp(server, application);
    calls = onlineTestCalls(() => server, kind, application);
  };

  describe('are rejected', () => {
    beforeAll(prepare);
    test.each([
      ['without a name', { name: undefined }, 'name'],
      ['with a name of 2 characters', { name: 'ab' }, 'name'],
      ['with a name of 49 characters', { name: repeatX(49) }, 'name'],
      ['with a description of 29 characters', { description: repeatX(29) }, 'description'],
      ['with a description of 129 characters', { description: repeatX(129) }, 'description'],
      ['without an id', { id: undefined }, 'id'],
      ['with capitals in the id', { id: 'Test' }, 'id'],
      ['with an id of 65 characters', { id: repeatX(65) }, 'id'],
      ['without instances', { comparison: undefined }, 'comparison'],
      [
        'with a baseline and no candidate',
        { comparison: { baseline_instance_id: 'baseline' } },
        'candidate_instance_id',
      ],
      [`without ${required}`, { [required]: undefined }, required],
      ['with an unknown field', { objectivez: {} }, 'objectives'],
      [
        'with an objective without a name',
        { objectives: { '': 'minimize' } },
        'objectives has the indicator ""',
      ],
      [
        'with an objective with a name of 256 characters',
        { objectives: { [repeatX(256)]: 'minimize' } },
        '1 to 255 characters',
      ],
      ['with 101 objectives', { objectives: createObjectives(101) }, 'objectives has 101 indicators'],
      ['with a limit of zero', { [required]: { maximum_runs: 0, units: 0, unit_duration_minutes: 1 } }, '0'],
    ])('%s', async (_, fields, field) => {
      expectError(await calls.create(draft(fields)), 400, field);
      expect(await listTestIds()).toEqual([]);
    });
  });

  test('are created with fields of the maximum length', async () => {
    await prepare();
    const longest = {
      id: repeatX(64),
      name: repeatX(48),
      description: repeatX(128),
      objectives: createObjectives(100),
    };
    const response = await calls.create(draft(longest));
    expectStatus(response, 201);
    expect(response.body).toMatchObject(longest);
    await createTest('test', { name: 'abc', description: repeatX(30) });
  });

  test('W14: can be renamed after the start, within the same limits, without other changes and a condition', async () => {
    await prepare();
    await createTest('test');
    expectStatus(await calls.start('test'), 204);
    const before = await calls.get('test/metadata');
    const patch = (body: object) => server.request('PATCH', `${calls.root}/test`, { body });
    expectError(await patch({ name: 'ab' }), 400, 'name');
    expectError(await patch({ name: repeatX(49) }), 400, 'name');
    expectError(await patch({ description: repeatX(129) }), 400, 'description');
    const stale = { name: 'Other', expected_updated_at: '2020-01-01T00:00:00Z' };
    expectError(await patch(stale), 400, 'expected_updated_at is', 'Leave it out');
    expect(await calls.get('test/metadata')).toEqual(before);
    clock.advance(1);
    const run = await submitRun();
    const response = await patch({ ...before, name: 'Renamed', status: 'draft', comparison: {} });
    expectStatus(response, 200);
    const { updated_at: _, number_of_requested_runs: __, number_of_runs: ___, ...same } = before;
    expect(response.body).toMatchObject({ ...same, name: 'Renamed', status: 'started' });
    const after = await submitRun();
    await server.waitUntil('runs-queued', async () => {
      const runs = (await calls.runs('test')).map(({ id }) => id);
      return runs.includes(run) && runs.includes(after);
    });
  });

  test('have a unique id, also under concurrent requests and repeats with an Idempotency-Key', async () => {
    await prepare();
    const responses = await Promise.all([1, 2, 3].map(() => calls.create(draft())));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    for (const response of responses)
      if (response.status === 400) expectError(response, 400, '"test"', 'another');
    const create = (body: object) =>
      server.request('POST', calls.root, { body, headers: { 'idempotency-key': `${application}-once` } });
    const first = await create(draft({ id: 'once' }));
    expectStatus(first, 201);
    expect((await create(draft({ id: 'once' }))).body).toEqual(first.body);
    expectError(await create(draft({ id: 'twice' })), 400, 'Idempotency-Key');
    expect((await listTestIds()).sort()).toEqual(['once', 'test']);
  });

  test('are listed newest first, in a time window, and on pages that include each once', async () => {
    await prepare();
    const order: string[] = [];
    const from = clock.now() - START;
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await createTest(id);
      order.unshift(id);
      clock.advance(1000);
    }
    expect(await listTestIds()).toEqual(order);
    for (const limit of [1, 2, 5])
      expect((await listAllPages(server, calls.root, limit)).flat()).toEqual(order);
    const listInWindow = async (query: string) =>
      listIds((await server.request('GET', `${calls.root}?${query}`)).body);
    expect(await listInWindow(`start=${at(from + 1000)}&end=${at(from + 3000)}`)).toEqual(['c', 'b']);
    expect(await listInWindow(`end=${at(from - 1)}`)).toEqual([]);
    const expectRejected = async (query: string, ...names: string[]): Promise<void> =>
      expectError(await server.request('GET', `${calls.root}?${query}`), 400, ...names);
    await expectRejected(`start=${at(1)}&end=${at(0)}`, 'start');
    await expectRejected('start=yesterday', 'start');
    await expectRejected('limit=51&pagereturn=true', 'limit');
    const { body } = await server.request('GET', `${calls.root}?pagereturn=true&limit=1`);
    const { next_page_token } = body as { next_page_token: string };
    const token = encodeURIComponent(next_page_token);
    await expectRejected(`pagereturn=true&limit=1&end=${at(9e9)}&pagetoken=${token}`, 'pagetoken');
    const response = await server.request('GET', `${calls.root}/a/runs?pagereturn=true&pagetoken=${token}`);
    expectError(response, 400, 'pagetoken');
  });

  test('list no runs as drafts, and after the start each run once across pages', async () => {
    await prepare();
    await createTest('test');
    expect((await server.request('GET', `${calls.root}/test/runs`)).body).toEqual({ runs: [] });
    expectStatus(await calls.start('test'), 204);
    for (let count = 0; count < 5; count += 1) {
      await submitRun();
      clock.advance(1);
    }
    const runs = kind === 'shadow' ? 10 : 5;
    await server.waitUntil('runs-queued', async () => (await calls.runs('test')).length === runs);
    const all = (await calls.runs('test')).map((run) => run.id);
    expect((await listAllPages(server, `${calls.root}/test/runs`, 2)).flat()).toEqual(all);
    expect(new Set(all).size).toBe(runs);
  });

  test('are not stopped with an unknown intent', async () => {
    await prepare();
    await createTest('test');
    expectStatus(await calls.start('test'), 204);
    expectError(await calls.stop('test', { intent: 'finish' }), 400, 'intent is "finish"');
    expect(await calls.status('test')).toBe('started');
    expectStatus(await calls.stop('test', { intent: null }), 204);
    expect(await calls.status('test')).toBe('completed');
  });

  test('respond to a second start with an empty 304, and do not change', async () => {
    await prepare();
    await createTest('test');
    expectStatus(await calls.start('test'), 204);
    const before = await calls.get('test/metadata');
    clock.advance(5000);
    const again = await calls.start('test');
    expectStatus(again, 304);
    expect(again.text).toBe('');
    expect(await calls.get('test/metadata')).toEqual(before);
  });

  test('start one of several concurrent tests on a baseline, and each test once', async () => {
    await prepare();
    const testIds = ['one', 'two', 'three'];
    for (const id of testIds) await createTest(id);
    const responses = await Promise.all(testIds.map((id) => calls.start(id)));
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 400, 400]);
    const winner = testIds[responses.findIndex(({ status }) => status === 204)] ?? '';
    for (const response of responses)
      if (response.status === 400) expectError(response, 400, `${kind} test "${winner}"`);
    expectStatus(await calls.remove(winner), 204);
    const [id = ''] = testIds.filter((testId) => testId !== winner);
    const starts = await Promise.all([1, 2, 3].map(() => calls.start(id)));
    expect(starts.map(({ status }) => status).sort()).toEqual([204, 304, 304]);
  });

  test('are readable for viewers, writable for operators, and absent for other accounts', async () => {
    await prepare();
    const { token: viewer } = await server.createKey('viewer');
    const { token: operator } = await server.createKey('operator');
    const { token: unassigned } = await server.createKey('unassigned');
    const { token: other } = await createOtherAccount(server);
    const steps = [
      ['POST', '', 201, draft()],
      ['PATCH', '/test', 200, { name: 'Renamed' }],
      ['PUT', '/test/start', 204],
      ['PUT', '/test/stop', 204],
      ['DELETE', '/test', 204],
    ] as const;
    const request = (token: string, method: string, path: string, body?: object) =>
      server.request(method, `${calls.root}${path}`, { token, ...(body ? { body } : {}) });
    for (const [method, path, status, body] of steps) {
      for (const token of [viewer, unassigned]) expectError(await request(token, method, path, body), 403);
      expectError(await request(other, method, path, body), 404);
      if (method === 'DELETE')
        for (const read of ['', '/test', '/test/runs', '/test/metadata']) {
          expectStatus(await request(viewer, 'GET', read), 200);
          expectError(await request(unassigned, 'GET', read), 403);
          expectError(await request(other, 'GET', read), 404);
        }
      expectStatus(await request(operator, method, path, body), status);
    }
    expect(await listTestIds()).toEqual([]);
  });
});

test('a shadow test has 1 to 10 candidates', async () => {
  const application = uniqueId('app');
  await createOnlineTestApp(server, application);
  const params = { application_id: application };
  const candidates = ['candidate', 'latest'];
  for (let count = 3; count <= 11; count += 1) {
    const body = { id: `c${count}`, name: `Candidate ${count}`, version_id: 'v1' };
    candidates.push((await server.client.call('createInstance', { params, body })).body.id);
  }
  const { root, create } = onlineTestCalls(() => server, 'shadow', application);
  const draft = (count: number) => ({
    id: 'test',
    name: 'Any name',
    comparisons: { baseline: candidates.slice(0, count) },
    termination_events: { maximum_runs: 1 },
  });
  for (const count of [0, 11])
    expectError(await create(draft(count)), 400, `comparisons.baseline has ${count} items`, '1 to 10');
  expect((await server.request('GET', root)).body).toEqual([]);
  const made = await create(draft(10));
  expectStatus(made, 201);
  expect(made.body).toMatchObject({
    comparisons: [{ baseline_instance_id: 'baseline', candidate_instance_ids: candidates.slice(0, 10) }],
  });
});
