/** Every list of this server: its two shapes, and pages that neither skip nor repeat rows. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun } from '../../testing/fixtures/apps.ts';
import {
  createVersion,
  expectError,
  expectStatus,
  listAllPages,
  uniqueId,
} from '../../testing/fixtures/resources.ts';
import { createAccountServer } from '../../testing/servers/account-server.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

interface List {
  path: string;
  /** Adds a row and returns its id. */
  add(): Promise<string>;
}

let server: TestServer;
let lists: Record<string, List>;
beforeAll(async () => {
  server = await startTestServer();
  const application = await createVersion(server);
  const run = await createRun(server, application, { input: {} });
  const createAdd = (path: string, fields: (id: string) => object) => async (): Promise<string> => {
    const response = await server.request('POST', path, { body: fields(uniqueId('one')) });
    expectStatus(response, 201);
    return (response.body as { id: string }).id;
  };
  const list = (path: string, fields: (id: string) => object): List => ({
    path,
    add: createAdd(path, fields),
  });
  lists = {
    keys: list('/v1/account/keys', () => ({ name: 'Any name', role: 'viewer' })),
    members: list('/v1/account/members', (id) => ({ email: `${id}@example.com`, role: 'viewer' })),
    applications: list('/v1/applications', (id) => ({ id, name: 'Any name' })),
    versions: list(`/v1/applications/${application}/versions`, (id) => ({ id, name: 'Any name' })),
    inputs: list(`/v1/applications/${application}/inputs`, (id) => ({ id, run_id: run })),
    instances: list(`/v1/applications/${application}/instances`, (id) => ({
      id,
      name: 'Any name',
      version_id: 'v1',
    })),
  };
  for (const one of Object.values(lists)) for (let count = 0; count < 7; count += 1) await one.add();
});
afterAll(() => server.close());

const NAMES = ['keys', 'members', 'applications', 'versions', 'instances', 'inputs'];
const findList = (name: string): List => lists[name] as List;
const listIds = async (path: string): Promise<string[]> =>
  ((await server.request('GET', path)).body as { id: string }[]).map((one) => one.id);

describe.each(NAMES)('the list of %s', (name) => {
  test('is an array without pagereturn, newest first', async () => {
    const { path, add } = findList(name);
    const before = await listIds(path);
    const id = await add();
    expect(await listIds(path)).toEqual([id, ...before]);
    expect((await server.request('GET', `${path}?pagereturn=false`)).body).toBeInstanceOf(Array);
    expect(await listIds(`${path}?limit=2`)).toEqual([id, before[0]]);
  });

  test('is an object of items with pagereturn, and the last page has no token', async () => {
    const { path } = findList(name);
    const response = await server.request('GET', `${path}?pagereturn=true`);
    expect(Object.keys(response.body as object)).toEqual(['items']);
    const pages = await listAllPages(server, path, 3);
    expect(pages.flat()).toEqual(await listIds(path));
    for (const page of pages.slice(0, -1)) expect(page).toHaveLength(3);
  });

  test('skips and repeats no row while rows are added between pages', async () => {
    const { path, add } = findList(name);
    const before = await listIds(path);
    const pages = await listAllPages(server, path, 2, async () => {
      await add();
    });
    expect(pages.flat()).toEqual(before);
  });

  test('400 for an invalid limit', async () => {
    const { path } = findList(name);
    for (const limit of ['0', '51', '-1', 'abc', '1.5', '', '1e400', ' ']) {
      expectError(
        await server.request('GET', `${path}?limit=${encodeURIComponent(limit)}`),
        400,
        'limit is ',
      );
    }
    expectStatus(await server.request('GET', `${path}?limit=50`), 200);
    expectError(await server.request('GET', `${path}?limit=1&limit=2`), 400, 'limit', '2 times');
    expectError(await server.request('GET', `${path}?pagereturn=maybe`), 400, 'pagereturn is "maybe"');
  });

  test('400 for a token that is altered, invented or of another list', async () => {
    const { path } = findList(name);
    const first = await server.request('GET', `${path}?pagereturn=true&limit=1`);
    const token = (first.body as { next_page_token: string }).next_page_token;
    const others = await Promise.all(
      NAMES.filter((other) => other !== name).map(async (other) => {
        const response = await server.request('GET', `${findList(other).path}?pagereturn=true&limit=1`);
        return (response.body as { next_page_token: string }).next_page_token;
      }),
    );
    const swapped = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;
    const wrong = ['x', token.slice(1), token.slice(0, -4), `${token}A`, `${token}=`, `${token}!`, swapped];
    for (const one of [...wrong, ...others, 'a\0b', '🚚', 'x'.repeat(5000)]) {
      const response = await server.request('GET', `${path}?pagetoken=${encodeURIComponent(one)}`);
      expectError(response, 400, 'pagetoken is ');
    }
    expectStatus(await server.request('GET', `${path}?pagereturn=true&pagetoken=${token}`), 200);
  });
});

test('400 for a page token of another application or another account', async () => {
  const other = await createVersion(server);
  const first = await server.request('GET', `${findList('versions').path}?pagereturn=true&limit=1`);
  const { next_page_token: token } = first.body as { next_page_token: string };
  expectError(await server.request('GET', `/v1/applications/${other}/versions?pagetoken=${token}`), 400);
  const apps = await server.request('GET', '/v1/applications?pagereturn=true&limit=1');
  const account = await createOtherAccount(server);
  const foreign = (apps.body as { next_page_token: string }).next_page_token;
  const response = await server.request('GET', `/v1/applications?pagetoken=${foreign}`, {
    token: account.token,
  });
  expectError(response, 400, 'pagetoken');
});

test('the next page continues after the last row, also when that row was deleted', async () => {
  const { path } = findList('versions');
  const before = await listIds(path);
  const pages = await listAllPages(server, path, 2, async (page) => {
    if (page === 1) expectStatus(await server.request('DELETE', `${path}/${before[1]}`), 204);
  });
  expect(pages.flat()).toEqual(before);
});

test('rows created in the same millisecond are paged without a gap', async () => {
  const { path, add } = findList('applications');
  const created = await Promise.all(Array.from({ length: 30 }, add));
  const listed = (await listAllPages(server, path, 4)).flat();
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed).toEqual(expect.arrayContaining(created));
});

test('applications are found by a part of their id or name, by pages of their own', async () => {
  for (const [id, name] of [
    ['night-tours', 'Routes'],
    ['vans', 'Night of 100 %'],
    ['day', 'Day_tours'],
    ['depots', 'Маршруты доставки'],
  ])
    await server.request('POST', '/v1/applications', { body: { id, name } });
  const find = async (text: string) =>
    (await listIds(`/v1/applications?text=${encodeURIComponent(text)}`)).toSorted();
  expect(await find('night')).toEqual(['night-tours', 'vans']);
  expect(await find('NIGHT OF')).toEqual(['vans']);
  expect(await find('100 %')).toEqual(['vans']);
  expect(await find('y_t')).toEqual(['day']);
  expect(await find('%')).toEqual(['vans']);
  for (const text of ['марш', 'Марш', 'доставки']) expect(await find(text), text).toEqual(['depots']);
  const { body } = await server.request('GET', '/v1/applications?text=night&pagereturn=true&limit=1');
  const token = encodeURIComponent((body as { next_page_token: string }).next_page_token);
  expectError(
    await server.request('GET', `/v1/applications?text=day&pagereturn=true&pagetoken=${token}`),
    400,
  );
});

test('applications of another account are never found', async () => {
  const foreign = await createAccountServer(server);
  const create = async (one: Pick<TestServer, 'request'>, id: string, name: string) =>
    expectStatus(await one.request('POST', '/v1/applications', { body: { id, name } }), 201);
  await create(foreign, 'harbour', 'Quay cranes');
  await create(server, 'harbour-own', 'Quay walls');
  const find = async (one: Pick<TestServer, 'request'>, text: string) => {
    const { body } = await one.request('GET', `/v1/applications?text=${encodeURIComponent(text)}`);
    return (body as { id: string }[]).map(({ id }) => id);
  };
  for (const text of ['harbour', 'QUAY']) {
    expect(await find(server, text), text).toEqual(['harbour-own']);
    expect(await find(foreign, text), text).toEqual(['harbour']);
  }
  expect(await find(server, 'cranes')).toEqual([]);
  expect(await find(foreign, 'walls')).toEqual([]);
  const ids = 'harbour,harbour-own';
  const { body } = await server.request('GET', `/v1/application-summaries?application_id=${ids}`);
  expect(body).toMatchObject({ items: [{ application_id: 'harbour-own' }] });
  for (const path of ['run-counts', 'tags', 'runs?format=csv'])
    expectError(await server.request('GET', `/v1/applications/harbour/${path}`), 404, '"harbour"');
});

test('400 for the summaries of more applications than a page has', async () => {
  const ids = Array.from({ length: 51 }, (_, index) => `one-${index}`).join(',');
  expectError(
    await server.request('GET', `/v1/application-summaries?application_id=${ids}`),
    400,
    '51',
    '50',
  );
});
