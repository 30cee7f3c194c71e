/** A list of the API has all rows that can be read, whatever a single row holds. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createInstance } from '../../../testing/fixtures/resources.ts';
import { ENSEMBLE } from '../../../testing/http/experiments.ts';
import { startTestServer, type TestServer } from '../../../testing/servers/test-server.ts';
import { formatReadableRows } from './readable-rows.ts';

/** Later than the last instant of a Date, so that no response can have it. */
const IMPOSSIBLE_TIME = 8_650_000_000_000_000;

let server: TestServer;
let app: string;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '0' } });
  app = await createInstance(server);
});
afterAll(() => server.close());

/** The table of each list, its path, and the body by which `POST` of the path, or of another one, adds a row. */
const LISTS: [table: string, path: string, body: object, post?: string][] = [
  ['keys', '/v1/account/keys', { name: 'Any name', role: 'viewer' }],
  ['worker_tokens', '/v1/account/worker-tokens', { name: 'Any name' }],
  ['applications', '/v1/applications', { name: 'Any name' }],
  [
    'webhooks',
    '/v1/webhooks',
    { id: 'any', event_types: ['run.status'], description: 'Any', endpoint_url: 'https://example.com/' },
  ],
  ['versions', '{app}/versions', { name: 'Any name' }],
  ['instances', '{app}/instances', { name: 'Any name', version_id: 'v1' }],
  ['secrets_collections', '{app}/secrets', { name: 'Any name', secrets: [] }],
  ['runs', '{app}/runs', { input: {} }],
  ['runs', '/v1/account/queue', { input: {} }, '{app}/runs'],
  ['run_views', '{app}/views', { name: 'Any name', table: {} }],
  ['ensembles', '{app}/ensembles', { id: 'best', ...ENSEMBLE }],
];

/** Returns the ids in a list, which is an array or an object with one. */
async function listIds(path: string): Promise<string[]> {
  const { status, body, text } = await server.request('GET', path);
  expect(status, text).toBe(200);
  const list: { items?: { id: string }[]; runs?: { id: string }[] } = Object(body);
  return (Array.isArray(body) ? body : (list.items ?? list.runs ?? [])).map(({ id }: { id: string }) => id);
}

test.each(LISTS)(
  'A1: the list of %s at %s survives a row that cannot be read',
  async (table, list, body, post) => {
    const locate = (path: string): string => path.replace('{app}', `/v1/applications/${app}`);
    const path = locate(list);
    const before = await listIds(path);
    const created = await server.request('POST', locate(post ?? list), { body });
    expect(created.status, created.text).toBeLessThan(300);
    const { id, run_id = id }: { id: string; run_id?: string } = Object(created.body);
    expect(await listIds(path)).toContain(run_id);
    const { database } = server.runningServer;
    await database.transact((tx) =>
      sql`update ${sql.table(table)} set created_at = ${IMPOSSIBLE_TIME} where id = ${run_id}`.execute(tx),
    );
    expect((await listIds(path)).toSorted()).toEqual(before.toSorted());
    await database.transact((tx) =>
      sql`update ${sql.table(table)} set created_at = 1 where id = ${run_id}`.execute(tx),
    );
  },
);

test.each([
  ['indicators', '{"name": "value"}'],
  ['options_summary', '[{"name": 1}]'],
  ['request_options', '['],
])('a list of runs survives a run whose %s are %s', async (column, json) => {
  const path = `/v1/applications/${app}/runs`;
  const before = await listIds(path);
  const { body } = await server.request('POST', path, { body: { input: {} } });
  const { run_id }: { run_id?: string } = Object(body);
  await server.runningServer.database.transact((tx) =>
    sql`update runs set ${sql.ref(column)} = ${json} where id = ${run_id}`.execute(tx),
  );
  expect((await listIds(path)).toSorted()).toEqual(before.toSorted());
  expect(await listIds(`${path}?indicator=${encodeURIComponent('value:0..')}`)).toEqual([]);
});

test('an error that concerns the whole list fails it, and each row that is left out is reported', async () => {
  const reports: object[] = [];
  const log = { error: (fields: object) => reports.push(fields) };
  const rows = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
  const failWith = (error: Error) => (some: { id: string }[]) =>
    some.map(({ id }) => {
      if (id === 'b') throw error;
      return id;
    });
  const readable = await formatReadableRows(log, rows, failWith(new RangeError('Invalid time value')));
  expect(readable).toEqual(['a', 'c']);
  expect(reports).toEqual([{ row: 'b', error: 'Invalid time value' }]);
  await expect(formatReadableRows(log, rows, failWith(new Error('database is locked')))).rejects.toThrow(
    'locked',
  );
});
