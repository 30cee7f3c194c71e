/** An experiment with broken rows does not stop the finalisation or deletion of other experiments. */
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

/** Creates three batch experiments, each with one run that waits; returns the uid of each in ascending order. */
async function startWaitingBatches(): Promise<string[]> {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' } });
  await createExperimentApplication(server, 'app', { waits: { waits: 'true' } }, [{ size: 1 }]);
  for (const id of IDS)
    await createBatchExperiment(server, 'app', { id, input_set_id: 'sizes', instance_ids: ['waits'] });
  return queryUids();
}
async function queryUids(): Promise<string[]> {
  const rows = await server.runningServer.database.read
    .selectFrom('experiments')
    .select('uid')
    .orderBy('uid')
    .execute();
  return rows.map((row) => row.uid);
}

test('a batch experiment that cannot be finalised does not delay the others', async () => {
  const [first, healthy, last] = await startWaitingBatches();
  const { database } = server.runningServer;
  const queryRuns = () =>
    database.read
      .selectFrom('runs')
      .select(['id', 'experiment_uid', 'finished_at'])
      .where('experiment_uid', 'is not', null)
      .execute();
  await server.waitUntil('runs-queued', async () => (await queryRuns()).length === IDS.length);
  const broken = [first ?? '', last ?? ''];
  // A definition that is not JSON makes every attempt at finalisation throw.
  await database.transact((tx) =>
    tx.updateTable('experiments').set({ definition: '{' }).where('uid', 'in', broken).execute(),
  );
  const cancelRuns = async (experimentUids: readonly string[]): Promise<void> => {
    const canceled = (await queryRuns()).filter((run) => experimentUids.includes(run.experiment_uid ?? ''));
    for (const { id } of canceled)
      expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${id}/cancel`), 204);
    await server.waitUntil('runs-ended', async () =>
      (await queryRuns()).every(
        (run) => run.finished_at !== null || !experimentUids.includes(run.experiment_uid ?? ''),
      ),
    );
  };
  await cancelRuns(broken);
  await cancelRuns([healthy ?? '']);
  const { id } = await database.read
    .selectFrom('experiments')
    .select('id')
    .where('uid', '=', healthy ?? '')
    .executeTakeFirstOrThrow();
  expect((await waitForBatchEnd(server, 'app', id)).status).toBe('failed');
});

test('an experiment that cannot be deleted does not block the deletion of others', async () => {
  const [first] = await startWaitingBatches();
  const { database } = server.runningServer;
  // A foreign key from outside the product makes the deletion of the first experiment fail.
  await sql`create table deletion_blockers (uid text references experiments (uid))`.execute(database.read);
  await sql`insert into deletion_blockers values (${first})`.execute(database.read);
  for (const id of IDS)
    expectStatus(await server.request('DELETE', batchExperimentPath('app', `/${id}`)), 204);
  await expect.poll(queryUids).toEqual([first]);
  await sql`drop table deletion_blockers`.execute(database.read);
  await server.restart();
  await expect.poll(queryUids).toEqual([]);
});
