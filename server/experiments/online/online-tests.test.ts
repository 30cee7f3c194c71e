/** What holds for shadow and switchback tests alike: what is refused, lists and pages, roles, and requests at one moment. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun } from '../../testing/fixtures/apps.ts';
import { COMPARISON, createOnlineTestApp, onlineTestCalls } from '../../testing/fixtures/online-tests.ts';
import { expectError, expectStatus, listAllPages, uniqueId } from '../../testing/fixtures/resources.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const START = Date.UTC(2026, 0, 5, 8);
const at = (ms: number) => new Date(START + ms).toISOString();
const words = (length: number) => 'x'.repeat(length);
/** Of so many indicators, with names as long as they may be. */
const objectivesOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}`.padEnd(255, 'x'), 'maximize']));

let server: TestServer;
let clock: ManualClock;
beforeAll(async () => {
  clock = createManualClock(START);
  // No slot for runs: what is made stays queued.
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
  const draft = (more: object = {}) => ({
    id: 'test',
    name: 'Any name',
    comparison: COMPARISON,
    ...own,
    ...more,
  });
  const made = async (id: string, more: object = {}): Promise<void> =>
    expectStatus(await calls.create(draft({ id, ...more })), 201);
  const make = () => createRun(server, application, { instance: 'baseline', input: { cost: 1 } });
  const ids = (body: unknown): string[] =>
    (Array.isArray(body) ? body : (body as { items: unknown[] }).items).map(
      (one) => (one as { id: string }).id,
    );
  const listed = async (): Promise<string[]> => ids((await server.request('GET', calls.root)).body);

  const prepare = async (): Promise<void> => {
    application = uniqueId('app');
    await createOnlineTestApp(server, application);
    calls = onlineTestCalls(() => server, kind, application);
  };

  describe('are refused', () => {
    beforeAll(prepare);
    test.each([
      ['without a name', { name: undefined }, 'name'],
      ['with a name of 2', { name: 'ab' }, 'name'],
      ['with a name of 49', { name: words(49) }, 'name'],
      ['with a description of 29', { description: words(29) }, 'description'],
      ['with a description of 129', { description: words(129) }, 'description'],
      ['without an id', { id: undefined }, 'id'],
      ['with capitals in the id', { id: 'Test' }, 'id'],
      ['with an id of 65', { id: words(65) }, 'id'],
      ['without instances', { comparison: undefined }, 'comparison'],
      ['with half of a pair', { comparison: { baseline_instance_id: 'baseline' } }, 'candidate_instance_id'],
      [`without ${required}`, { [required]: undefined }, required],
      ['with a field that is none', { objectivez: {} }, 'objectives'],
      ['with an objective of no name', { objectives: { '': 'minimize' } }, 'objectives has the indicator ""'],
      ['with one of a name of 256', { objectives: { [words(256)]: 'minimize' } }, '1 to 255 characters'],
      ['with objectives of 101', { objectives: objectivesOf(101) }, 'objectives has 101 indicators'],
      [
        'with a zero for a limit',
        { [required]: { maximum_runs: 0, units: 0, unit_duration_minutes: 1 } },
        '0',
      ],
    ])('%s', async (_, more, field) => {
      expectError(await calls.create(draft(more)), 400, field);
      expect(await listed()).toEqual([]);
    });
  });

  test('are made with the longest of everything', async () => {
    await prepare();
    const longest = {
      id: words(64),
      name: words(48),
      description: words(128),
      objectives: objectivesOf(100),
    };
    const answer = await calls.create(draft(longest));
    expectStatus(answer, 201);
    expect(answer.body).toMatchObject(longest);
    await made('test', { name: 'abc', description: words(30) });
  });

  test('are renamed within the same limits, also when they have started, which changes nothing else', async () => {
    await prepare();
    await made('test');
    expectStatus(await calls.start('test'), 204);
    const before = await calls.get('test/metadata');
    const patch = (body: object) => server.request('PATCH', `${calls.root}/test`, { body });
    expectError(await patch({ name: 'ab' }), 400, 'name');
    expectError(await patch({ name: words(49) }), 400, 'name');
    expectError(await patch({ description: words(129) }), 400, 'description');
    expect(await calls.get('test/metadata')).toEqual(before);
    clock.advance(1);
    const run = await make();
    const answer = await patch({ ...before, name: 'Renamed', status: 'draft', comparison: {} });
    expectStatus(answer, 200);
    const { updated_at: _, number_of_requested_runs: __, number_of_runs: ___, ...same } = before;
    expect(answer.body).toMatchObject({ ...same, name: 'Renamed', status: 'started' });
    const after = await make();
    await server.waitUntil('runs-queued', async () => {
      const runs = (await calls.runs('test')).map((one) => one.id);
      return runs.includes(run) && runs.includes(after);
    });
  });

  test('have their id once, also when two are made at one moment, and once under an Idempotency-Key', async () => {
    await prepare();
    const answers = await Promise.all([1, 2, 3].map(() => calls.create(draft())));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    for (const answer of answers) if (answer.status === 400) expectError(answer, 400, '"test"', 'another');
    const ask = (body: object) =>
      server.request('POST', calls.root, { body, headers: { 'idempotency-key': `${application}-once` } });
    const first = await ask(draft({ id: 'once' }));
    expectStatus(first, 201);
    expect((await ask(draft({ id: 'once' }))).body).toEqual(first.body);
    expectError(await ask(draft({ id: 'twice' })), 400, 'Idempotency-Key');
    expect((await listed()).sort()).toEqual(['once', 'test']);
  });

  test('are listed newest first, in a window, by pages that go through all of them', async () => {
    await prepare();
    const order: string[] = [];
    const from = clock.now() - START;
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await made(id);
      order.unshift(id);
      clock.advance(1000);
    }
    expect(await listed()).toEqual(order);
    for (const limit of [1, 2, 5])
      expect((await listAllPages(server, calls.root, limit)).flat()).toEqual(order);
    const window = async (query: string) => ids((await server.request('GET', `${calls.root}?${query}`)).body);
    expect(await window(`start=${at(from + 1000)}&end=${at(from + 3000)}`)).toEqual(['c', 'b']);
    expect(await window(`end=${at(from - 1)}`)).toEqual([]);
    const refused = (query: string, ...names: string[]) =>
      server.request('GET', `${calls.root}?${query}`).then((answer) => expectError(answer, 400, ...names));
    await refused(`start=${at(1)}&end=${at(0)}`, 'start');
    await refused('start=yesterday', 'start');
    await refused('limit=51&pagereturn=true', 'limit');
    const { body } = await server.request('GET', `${calls.root}?pagereturn=true&limit=1`);
    const { next_page_token } = body as { next_page_token: string };
    const token = encodeURIComponent(next_page_token);
    await refused(`pagereturn=true&limit=1&end=${at(9e9)}&pagetoken=${token}`, 'pagetoken');
    const answer = await server.request('GET', `${calls.root}/a/runs?pagereturn=true&pagetoken=${token}`);
    expectError(answer, 400, 'pagetoken');
  });

  test('list no run as drafts, and each once by pages later', async () => {
    await prepare();
    await made('test');
    expect((await server.request('GET', `${calls.root}/test/runs`)).body).toEqual({ runs: [] });
    expectStatus(await calls.start('test'), 204);
    for (let count = 0; count < 5; count += 1) {
      await make();
      clock.advance(1);
    }
    const runs = kind === 'shadow' ? 10 : 5;
    await server.waitUntil('runs-queued', async () => (await calls.runs('test')).length === runs);
    const all = (await calls.runs('test')).map((run) => run.id);
    expect((await listAllPages(server, `${calls.root}/test/runs`, 2)).flat()).toEqual(all);
    expect(new Set(all).size).toBe(runs);
  });

  test('are not stopped with an intent that is none', async () => {
    await prepare();
    await made('test');
    expectStatus(await calls.start('test'), 204);
    expectError(await calls.stop('test', { intent: 'finish' }), 400, 'intent is "finish"');
    expect(await calls.status('test')).toBe('started');
    expectStatus(await calls.stop('test', { intent: null }), 204);
    expect(await calls.status('test')).toBe('completed');
  });

  test('answer a second start with 304, nothing in it, and nothing changed', async () => {
    await prepare();
    await made('test');
    expectStatus(await calls.start('test'), 204);
    const before = await calls.get('test/metadata');
    clock.advance(5000);
    const again = await calls.start('test');
    expectStatus(again, 304);
    expect(again.text).toBe('');
    expect(await calls.get('test/metadata')).toEqual(before);
  });

  test('start one of two that want a baseline at one moment, and one test once', async () => {
    await prepare();
    const wanted = ['one', 'two', 'three'];
    for (const id of wanted) await made(id);
    const answers = await Promise.all(wanted.map((id) => calls.start(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400, 400]);
    const winner = wanted[answers.findIndex(({ status }) => status === 204)] ?? '';
    for (const answer of answers)
      if (answer.status === 400) expectError(answer, 400, `${kind} test "${winner}"`);
    expectStatus(await calls.remove(winner), 204);
    const [id = ''] = wanted.filter((one) => one !== winner);
    const same = await Promise.all([1, 2, 3].map(() => calls.start(id)));
    expect(same.map(({ status }) => status).sort()).toEqual([204, 304, 304]);
  });

  test('are read by viewers, moved by operators, and not there for another account', async () => {
    await prepare();
    const { token: viewer } = await server.createKey('viewer');
    const { token: operator } = await server.createKey('operator');
    const { token: nobody } = await server.createKey('unassigned');
    const { token: other } = await createOtherAccount(server);
    const steps = [
      ['POST', '', 201, draft()],
      ['PATCH', '/test', 200, { name: 'Renamed' }],
      ['PUT', '/test/start', 204],
      ['PUT', '/test/stop', 204],
      ['DELETE', '/test', 204],
    ] as const;
    const ask = (token: string, method: string, path: string, body?: object) =>
      server.request(method, `${calls.root}${path}`, { token, ...(body ? { body } : {}) });
    for (const [method, path, status, body] of steps) {
      for (const token of [viewer, nobody]) expectError(await ask(token, method, path, body), 403);
      expectError(await ask(other, method, path, body), 404);
      if (method === 'DELETE')
        for (const read of ['', '/test', '/test/runs', '/test/metadata']) {
          expectStatus(await ask(viewer, 'GET', read), 200);
          expectError(await ask(nobody, 'GET', read), 403);
          expectError(await ask(other, 'GET', read), 404);
        }
      expectStatus(await ask(operator, method, path, body), status);
    }
    expect(await listed()).toEqual([]);
  });
});

test('shadow tests have one to ten candidates', async () => {
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
