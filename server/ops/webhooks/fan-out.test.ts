/** Fan-out: each event becomes deliveries once, despite invalid rows of another account. */
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { createMetrics } from '../../platform/http/metrics.ts';
import { createLog } from '../../platform/log.ts';
import { systemRandom } from '../../platform/random.ts';
import { insertApplication, insertRunEvent, insertWebhook } from '../../testing/database/insert-rows.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import { fanOutEventsJob } from './fan-out.ts';

const ROW_RETRY_MS = 5000;
let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await openTestDatabase();
  database = testDatabase.database;
});
afterAll(() => testDatabase.close());

/** Inserts an account with an application, a webhook, and pending events of runs that are deleted. */
async function insertAccount(account: string, event_types: string, events: number): Promise<void> {
  await database.transact(async (tx) => {
    const application_uid = await insertApplication(tx, { account_id: account as AccountId });
    await insertWebhook(tx, {
      uid: `webhook of ${account}`,
      account_id: account as AccountId,
      event_types,
    });
    for (let run = 0; run < events; run += 1)
      await insertRunEvent(tx, { run_id: `run-${account}-${run}` as RunId, application_uid });
  });
}

/** Counts deliveries by webhook. */
async function countDeliveries(): Promise<Record<string, number>> {
  const rows = await database.read.selectFrom('webhook_deliveries').select('webhook_uid').execute();
  const counts: Record<string, number> = {};
  for (const { webhook_uid } of rows) counts[webhook_uid] = (counts[webhook_uid] ?? 0) + 1;
  return counts;
}

test('a webhook with broken event types delays the deliveries of no other account', async () => {
  await insertAccount('broken', '{', 2);
  await insertAccount('healthy', '["run.status"]', 3);
  let elapsed = 0;
  const clock = { ...systemClock, elapsed: () => elapsed };
  const parts = { database, clock, random: systemRandom, metrics: createMetrics(), log: createLog('silent') };
  const job = fanOutEventsJob(parts);
  await job.runOnce();
  expect(await countDeliveries()).toEqual({ 'webhook of healthy': 3 });
  await job.runOnce();
  expect(await countDeliveries()).toEqual({ 'webhook of healthy': 3 });
  await database.transact((tx) =>
    tx
      .updateTable('webhooks')
      .set({ event_types: '["run.status"]' })
      .where('uid', '=', 'webhook of broken')
      .execute(),
  );
  elapsed += ROW_RETRY_MS;
  await job.runOnce();
  expect(await countDeliveries()).toEqual({ 'webhook of healthy': 3, 'webhook of broken': 2 });
});
