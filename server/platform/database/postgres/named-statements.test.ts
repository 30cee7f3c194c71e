/** Planned statements of PostgreSQL while a newer release changes the tables of a running server. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createRun, nodeApp, packFiles, pushArchive } from '../../../testing/fixtures/apps.ts';
import { createApplication, expectStatus, MANIFEST } from '../../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../../testing/servers/test-server.ts';
import { prepareStatement } from '../prepared-statements.ts';

// A connection of SQLite has no stored plans.
describe.skipIf(!inject('postgres'))('on PostgreSQL', () => {
  let server: TestServer;
  let application: string;
  let other: pg.Client;
  beforeAll(async () => {
    // No slot of the class of these runs, so that they wait.
    server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '0,16c60gb12h=1' } });
    application = await createApplication(server);
    const archive = await packFiles({ 'app.yaml': MANIFEST, ...nodeApp('() => ({})') });
    expectStatus(await pushArchive(server, application, archive), 200);
    other = new pg.Client({ connectionString: server.databaseUrl });
    await other.connect();
  });
  afterAll(async () => {
    await other.end();
    await server.close();
  });

  test('requests succeed after a table gets a new column', async () => {
    const path = `/v1/applications/${application}/runs`;
    /** Uses all connections, so that each of them has planned. */
    const requestAll = async (): Promise<void> => {
      const ids = await Promise.all(Array.from({ length: 20 }, () => createRun(server, application)));
      const responses = await Promise.all(ids.map((id) => server.request('GET', `${path}/${id}/metadata`)));
      for (const response of responses) expectStatus(response, 200);
    };
    await requestAll();
    const { rows } = await other.query<{ name: string }>(
      "select distinct tablename as name from pg_tables where schemaname = current_schema() and tablename <> 'audit_entries'",
    );
    for (const { name } of rows) await other.query(`alter table "${name}" add column added_later text`);
    await requestAll();
  });

  test('a transaction with an outdated plan runs again as a whole', async () => {
    const { database } = server.runningServer;
    const select = prepareStatement((db, { bytes }: { bytes: number }) =>
      db.selectFrom('contents').selectAll().where('bytes', '>', bytes).limit(1),
    );
    let started = 0;
    const read = () =>
      database.transact(async (tx) => {
        started += 1;
        return (await select(tx, { bytes: 0 })).length;
      });
    expect(await Promise.all(Array.from({ length: 20 }, read))).toEqual(Array.from({ length: 20 }, () => 1));
    expect(started).toBe(20);
    await other.query('alter table contents add column added_last text');
    // Uses as many connections as before: a single read may get one that has not planned the statement yet.
    expect(await Promise.all(Array.from({ length: 20 }, read))).toEqual(Array.from({ length: 20 }, () => 1));
    expect(started).toBeGreaterThan(40);
  });
});
