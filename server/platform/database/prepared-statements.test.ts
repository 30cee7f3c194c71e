import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { prepareStatement } from './prepared-statements.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

test('a prepared statement gets its values in each call, in any order, and keeps its constants', async () => {
  const insert = prepareStatement((db, row: { id: string; bytes: number }) =>
    db.insertInto('contents').values({ sha256: 'fixed', inline: null, blob_key: null, ...row }),
  );
  const select = prepareStatement((db, { most, least }: { least: number; most: number }) =>
    db
      .selectFrom('contents')
      .select(['id', 'bytes', 'sha256'])
      .where('bytes', '>=', least)
      .where('bytes', '<', most)
      .where('sha256', '=', 'fixed')
      .orderBy('id'),
  );
  const { database } = server.runningServer;
  await database.transact(async (tx) => {
    await insert(tx, { id: 'one', bytes: 10 });
    await insert(tx, { bytes: 20, id: 'two' });
  });
  expect(await select(database.read, { least: 10, most: 20 })).toEqual([
    { id: 'one', bytes: 10, sha256: 'fixed' },
  ]);
  expect(await select(database.read, { most: 100, least: 15 })).toEqual([
    { id: 'two', bytes: 20, sha256: 'fixed' },
  ]);
});
