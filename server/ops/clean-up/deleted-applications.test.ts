/** The clean-up of deleted applications continues after a failing one. */
import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
afterEach(() => server.close());

test('an application that cannot be removed does not stop the removal of others', async () => {
  server = await startTestServer();
  const { database } = server.runningServer;
  const listUids = async (): Promise<string[]> => {
    const rows = await database.read.selectFrom('applications').select('uid').orderBy('uid').execute();
    return rows.map((row) => row.uid);
  };
  for (const id of ['one', 'two', 'three'])
    await server.client.call('createApplication', { body: { id, name: `App ${id}` } });
  const uids = await listUids();
  const { uid: first } = await database.read
    .selectFrom('applications')
    .select('uid')
    .where('id', '=', 'one' as never)
    .executeTakeFirstOrThrow();
  // The first one fails, in the order of uids as well as in the order of creation.
  const broken = uids.filter((uid, at) => at === 0 || uid === first);
  await sql`create table holds (uid text references applications (uid))`.execute(database.read);
  for (const uid of broken) await sql`insert into holds values (${uid})`.execute(database.read);
  for (const id of ['one', 'two', 'three'])
    expectStatus(await server.request('DELETE', `/v1/applications/${id}`), 204);
  await expect.poll(listUids).toEqual(broken);
  await sql`drop table holds`.execute(database.read);
  await server.restart();
  await expect
    .poll(async () => server.runningServer.database.read.selectFrom('applications').select('uid').execute(), {
      timeout: 20_000,
    })
    .toEqual([]);
});
