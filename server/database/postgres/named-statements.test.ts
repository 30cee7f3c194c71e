/** Statements that PostgreSQL keeps planned, while a newer release changes the tables beside a server. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createRun, nodeApp, packFiles, pushArchive } from '../../testing/fixtures/apps.ts';
import { createApplication, expectStatus, MANIFEST } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { prepareStatement } from '../prepared-statements.ts';

// SQLite has no plans that a connection keeps.
describe.skipIf(!inject('postgres'))('on PostgreSQL', () => {
  let server: TestServer;
  let application: string;
  let other: pg.Client;
  beforeAll(async () => {
    // Without a slot, so that the runs wait.
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

  test('a table that gets a column meanwhile costs no request its answer', async () => {
    const path = `/v1/applications/${application}/runs`;
    /** On as many connections as there are, so that each of them has planned. */
    const askAll = async (): Promise<void> => {
      const ids = await Promise.all(Array.from({ length: 20 }, () => createRun(server, application)));
      const answers = await Promise.all(ids.map((id) => server.request('GET', `${path}/${id}/metadata`)));
      for (const answer of answers) expectStatus(answer, 200);
    };
    await askAll();
    const { rows } = await other.query<{ name: string }>(
      "select distinct tablename as name from pg_tables where schemaname = current_schema() and tablename <> 'audit_entries'",
    );
    for (const { name } of rows) await other.query(`alter table "${name}" add column of_tomorrow text`);
    await askAll();
  });

  test('a transaction that meets such a table is begun again as a whole', async () => {
    const { database } = server.runningServer;
    const select = prepareStatement((db, { bytes }: { bytes: number }) =>
      db.selectFrom('contents').selectAll().where('bytes', '>', bytes).limit(1),
    );
    let begun = 0;
    const read = () =>
      database.transact(async (tx) => {
        begun += 1;
        return (await select(tx, { bytes: 0 })).length;
      });
    expect(await Promise.all(Array.from({ length: 20 }, read))).toEqual(Array.from({ length: 20 }, () => 1));
    expect(begun).toBe(20);
    await other.query('alter table contents add column of_the_day_after text');
    // On as many connections as before: a single read may get one that has not planned the statement yet.
    expect(await Promise.all(Array.from({ length: 20 }, read))).toEqual(Array.from({ length: 20 }, () => 1));
    expect(begun).toBeGreaterThan(40);
  });
});
