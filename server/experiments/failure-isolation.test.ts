/** One experiment whose rows are broken keeps no other from its end, and none from being removed. */
import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import {
  batchExperimentPath,
  createBatchExperiment,
  createExperimentApplication,
  waitForBatchEnd,
} from '../testing/fixtures/batch-experiments.ts';
import { expectStatus } from '../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../testing/servers/test-server.ts';

let server: TestServer;
afterEach(() => server.close());

const IDS = ['one', 'two', 'three'];

/** Three batch experiments of a run that waits; answers their uids in order. */
async function start(): Promise<string[]> {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' } });
  await createExperimentApplication(server, 'app', { waits: { waits: 'true' } }, [{ size: 1 }]);
  for (const id of IDS)
    await createBatchExperiment(server, 'app', { id, input_set_id: 'sizes', instance_ids: ['waits'] });
  return uids();
}
async function uids(): Promise<string[]> {
  const rows = await server.runningServer.database.read
    .selectFrom('experiments')
    .select('uid')
    .orderBy('uid')
    .execute();
  return rows.map((row) => row.uid);
}

test('a batch experiment that cannot be ended keeps no other waiting', async () => {
  const [first, healthy, last] = await start();
  const { database } = server.runningServer;
  const runs = () =>
    database.read
      .selectFrom('runs')
      .select(['id', 'experiment_uid', 'finished_at'])
      .where('experiment_uid', 'is not', null)
      .execute();
  await server.waitUntil('runs-queued', async () => (await runs()).length === IDS.length);
  const broken = [first ?? '', last ?? ''];
  await database.transact((tx) =>
    tx.updateTable('experiments').set({ definition: '{' }).where('uid', 'in', broken).execute(),
  );
  const cancel = async (wanted: readonly string[]): Promise<void> => {
    const those = (await runs()).filter((run) => wanted.includes(run.experiment_uid ?? ''));
    for (const { id } of those)
      expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${id}/cancel`), 204);
    await server.waitUntil('runs-ended', async () =>
      (await runs()).every((run) => run.finished_at !== null || !wanted.includes(run.experiment_uid ?? '')),
    );
  };
  await cancel(broken);
  await cancel([healthy ?? '']);
  const { id } = await database.read
    .selectFrom('experiments')
    .select('id')
    .where('uid', '=', healthy ?? '')
    .executeTakeFirstOrThrow();
  expect((await waitForBatchEnd(server, 'app', id)).status).toBe('failed');
});

test('an experiment that cannot be removed keeps no other from being removed', async () => {
  const [first] = await start();
  const { database } = server.runningServer;
  await sql`create table holds (uid text references experiments (uid))`.execute(database.read);
  await sql`insert into holds values (${first})`.execute(database.read);
  for (const id of IDS)
    expectStatus(await server.request('DELETE', batchExperimentPath('app', `/${id}`)), 204);
  await expect.poll(uids, { timeout: 20_000 }).toEqual([first]);
  await sql`drop table holds`.execute(database.read);
  await server.restart();
  await expect.poll(uids, { timeout: 20_000 }).toEqual([]);
});
