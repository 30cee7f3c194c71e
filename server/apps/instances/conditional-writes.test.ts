/** Conditional writes: an update on a state that the caller has not read is a 409 that changes nothing. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createVersion,
  expectError,
  expectStatus,
  uniqueId,
  uploadContent,
} from '../../testing/fixtures/resources.ts';
import { ENSEMBLE } from '../../testing/http/experiments.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const VERSIONS = Array.from({ length: 10 }, (_, index) => `v${index + 2}`);

let server: TestServer;
let application: string;
let path: string;
let email: string;
let account: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createVersion(server);
  path = `/v1/applications/${application}`;
  const { body } = await server.client.call('getAccount');
  email = body.key.user_email;
  account = body.id;
  for (const id of VERSIONS)
    expectStatus(
      await server.request('POST', `${path}/versions`, { body: { id, name: `Version ${id}` } }),
      201,
    );
});
afterAll(() => server.close());

const read = async (at: string) => (await server.request('GET', at)).body as Record<string, string>;
async function createInstance(): Promise<string> {
  const body = { id: uniqueId('i'), version_id: 'v1' };
  expectStatus(await server.request('POST', `${path}/instances`, { body }), 201);
  return `${path}/instances/${body.id}`;
}

test('W14: of ten promotions at once exactly one succeeds, and the others name both versions', async () => {
  const instance = await createInstance();
  const responses = await Promise.all(
    VERSIONS.map((version_id) =>
      server.request('PUT', instance, { body: { version_id, expected_version_id: 'v1' } }),
    ),
  );
  expect(responses.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
  const { version_id: winner } = await read(instance);
  for (const refused of responses.filter(({ status }) => status === 409))
    expectError(
      refused,
      409,
      'expected_version_id is "v1"',
      `has the version "${winner}" now`,
      'Nothing was changed',
    );
  expect(responses.find(({ status }) => status === 200)?.body).toMatchObject({ version_id: winner });
});

test('W14: a version that is the expected one is replaced, and no condition changes nothing else', async () => {
  const instance = await createInstance();
  const change = { version_id: 'v2', expected_version_id: 'v1', expected_updated_at: null };
  expectStatus(await server.request('PUT', instance, { body: change }), 200);
  expectStatus(await server.request('PUT', instance, { body: { version_id: 'v1' } }), 200);
  expect(await read(instance)).toMatchObject({ version_id: 'v1' });
});

/** An update with a condition: its path and method, and how its state is read and changed. */
interface Update {
  at: string;
  method?: string;
  /** Where the state is read, if not at the path of the update. */
  readAt?: string;
  getState?(body: object): { updated_at: string | null } | null;
  change?: (number: number) => object;
}
const describeChange = (number: number) => ({ description: `Description ${number}` });

const UPDATES: Record<string, () => Promise<Update>> = {
  application: async () => ({ at: path }),
  version: async () => ({ at: `${path}/versions/v2` }),
  instance: async () => ({ at: await createInstance() }),
  'secrets collection': () => createAt('secrets', { name: 'Any name', secrets: [] }),
  'secrets collection, one by one': async () => ({
    ...(await createAt('secrets', { name: 'Any name', secrets: [] })),
    method: 'PATCH',
  }),
  'input set': async () => {
    const id = uniqueId('in');
    const upload_id = await uploadContent(server, application, '{}');
    const body = { id, name: `Input ${id}`, upload_id };
    expectStatus(await server.request('POST', `${path}/inputs`, { body }), 201);
    return createAt('experiments/inputsets', { name: 'Any name', inputs: [{ id }] });
  },
  ensemble: async () => ({ ...(await createAt('ensembles', ENSEMBLE)), method: 'PATCH' }),
  webhook: async () => {
    const id = uniqueId('hook');
    const fields = { endpoint_url: 'https://example.com/', event_types: ['run.status'], description: 'Any' };
    expectStatus(await server.request('POST', '/v1/webhooks', { body: { id, ...fields } }), 201);
    return { at: `/v1/webhooks/${id}` };
  },
  'managed input': async () => {
    const upload_id = await uploadContent(server, application, '{}');
    return createAt('inputs', { name: 'Any name', upload_id });
  },
  'view of runs': async () => {
    const body = { name: uniqueId('View'), is_shared: true, table: {} };
    const created = await server.request('POST', `${path}/views`, { body });
    expectStatus(created, 201);
    const { id } = created.body as { id: string };
    return {
      ...{ at: `${path}/views/${id}`, readAt: `${path}/views` },
      getState: ({ items }: { items: { id: string; updated_at: string }[] }) =>
        items.find((one) => one.id === id) ?? null,
      change: (number) => ({ name: `View ${number}` }),
    };
  },
  member: async () => {
    const body = { email: `${uniqueId('m')}@example.com`, role: 'viewer' };
    const created = await server.request('POST', '/v1/account/members', { body });
    expectStatus(created, 201);
    const { id } = created.body as { id: string };
    return { at: `/v1/account/members/${id}`, change: (number) => ({ name: `Name ${number}` }) };
  },
  'app in the marketplace': async () => ({ at: await publishApp() }),
  'version in the marketplace': async () => ({
    at: `/v1/marketplace/partners/${account}/apps/published/versions/v1`,
    change: (number) => ({ change_log: [`Change ${number}`] }),
  }),
  'retention policy': async () => ({
    at: `${path}/retention`,
    change: (number) => ({ keep_days: number }),
  }),
  'quotas of an application': async () => ({ at: `${path}/quotas`, change: changeQuotas }),
  'quotas of the account': async () => ({ at: '/v1/account/quotas', change: changeQuotas }),
  licences: async () => ({
    at: '/v1/account/licenses',
    change: (total) => ({ licenses: [{ name: 'gurobi', total }] }),
  }),
  'cost rate': async () => ({
    at: RATE,
    readAt: '/v1/account/usage',
    getState: ({ cost_rate }: { cost_rate?: { updated_at: string | null } }) => cost_rate ?? null,
    change: (per_core_hour) => ({ currency: 'EUR', per_core_hour }),
  }),
};
const RATE = '/v1/account/cost-rate';
const changeQuotas = (number: number) => ({ concurrent_runs: number, core_hours_per_month: null });
/** Publishes the application with its first version, which the next case changes; returns the path of the app. */
async function publishApp(): Promise<string> {
  const apps = `/v1/marketplace/partners/${account}/apps`;
  const body = { id: 'published', ref_app_id: application, title: 'Any title', description: 'Any' };
  expectStatus(await server.request('POST', apps, { body }), 201);
  const version = { id: 'v1', ref_app_version_id: 'v1', change_log: ['Any change'] };
  expectStatus(await server.request('POST', `${apps}/${body.id}/versions`, { body: version }), 201);
  return `${apps}/${body.id}`;
}
async function createAt(kind: string, fields: object): Promise<Update> {
  const body = { id: uniqueId('r'), ...fields };
  expectStatus(await server.request('POST', `${path}/${kind}`, { body }), 201);
  return { at: `${path}/${kind}/${body.id}` };
}

describe('W14: of ten updates of one state exactly one succeeds, and the others name its author:', () => {
  test.each(Object.entries(UPDATES))('%s', async (_, prepare) => {
    const { at, method = 'PUT', readAt = at, getState, change = describeChange } = await prepare();
    const readTime = async (): Promise<string | null> => {
      const { body } = await server.request('GET', readAt);
      const state = getState ? getState(body as object) : (body as { updated_at: string | null });
      return state?.updated_at ?? null;
    };
    const send = (number: number, expected_updated_at: string | null) =>
      server.request(method, at, { body: { ...change(number), expected_updated_at } });
    // A setting begins with null, which is a condition for the first change too.
    for (const round of [1, 2]) {
      const before = await readTime();
      const responses = await Promise.all(VERSIONS.map((_id, index) => send(10 * round + index, before)));
      const succeeded = responses.filter(({ status }) => status < 300);
      expect(succeeded.length, responses[0]?.text).toBe(1);
      for (const refused of responses.filter(({ status }) => status >= 300))
        expectError(
          refused,
          409,
          `expected_updated_at is ${JSON.stringify(before)}`,
          'was changed at',
          `Z by ${email}. Nothing was changed`,
        );
      const after = await readTime();
      expect(after).not.toBeNull();
      expect(Date.parse(after ?? '')).toBeGreaterThan(Date.parse(before ?? '1970-01-01T00:00:00Z'));
    }
    expect((await send(5, await readTime())).status).toBeLessThan(300);
    // No condition: the last writer wins, as before.
    expect((await server.request(method, at, { body: change(6) })).status).toBeLessThan(300);
  });
});

test('W14: a cost rate is removed on the state that was read, and a removed one is a state of its own', async () => {
  const rate = { currency: 'EUR', per_core_hour: 1 };
  const readRate = async () =>
    ((await server.request('GET', '/v1/account/usage')).body as { cost_rate: { updated_at: string } | null })
      .cost_rate;
  const put = (fields: object) => server.request('PUT', RATE, { body: { ...rate, ...fields } });
  const remove = (at: string) => server.request('DELETE', `${RATE}?expected_updated_at=${at}`);
  expectStatus(await put({}), 200);
  const first = (await readRate())?.updated_at ?? '';
  // A client may send back what it has read.
  expectStatus(await put({ updated_at: first }), 200);
  expectError(await remove(first), 409, 'the cost rate was changed at');
  const second = (await readRate())?.updated_at ?? '';
  expectStatus(await remove(second), 204);
  expectError(await put({ expected_updated_at: second }), 409, 'the cost rate is not set');
  expectError(await remove('yesterday'), 400, 'expected_updated_at');
  expectStatus(await put({ expected_updated_at: null }), 200);
  expectError(await put({ expected_updated_at: null }), 409, 'expected_updated_at is null');
});

test('W16: an update that would change the lock is refused; the present state, which clients send back, is accepted', async () => {
  const instance = await createInstance();
  const lock = { locked: true };
  expectError(await server.request('PUT', instance, { body: lock }), 400, 'locked is true', 'with /lock');
  expect(await read(instance)).toMatchObject({ locked: false });
  expectStatus(await server.request('PUT', instance, { body: await read(instance) }), 200);
  expectStatus(await server.request('PUT', `${instance}/lock`, { body: lock }), 200);
  expectStatus(await server.request('PUT', instance, { body: await read(instance) }), 200);
  expectError(await server.request('PUT', instance, { body: { locked: false } }), 400, 'locked is false');
  expectError(await server.request('PUT', path, { body: lock }), 400, 'an application cannot be locked');
  expectStatus(await server.request('PUT', path, { body: { locked: false } }), 200);
});
