/** Events become deliveries once, whatever the rows of another account hold. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccountId, ApplicationId, RunId, WebhookId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { systemClock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { openPostgres } from '../database/postgres/postgres.ts';
import { openSqlite } from '../database/sqlite/sqlite.ts';
import { createMetrics } from '../http/metrics.ts';
import { createLog } from '../log.ts';
import { systemRandom } from '../random.ts';
import { migrateAll } from '../testing/database/migrate-all.ts';
import { createDatabase, dropDatabase } from '../testing/database/postgres-server.ts';
import { fanOutEventsJob } from './fan-out.ts';

const postgres = inject('postgres');
const name = `fan_out_${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), 'switchyard-fan-out-'));
const CREATED_AT = 1_800_000_000_000;
const ROW_RETRY_MS = 5000;
let database: Database;

beforeAll(async () => {
  database = postgres
    ? await openPostgres(await createDatabase(postgres, name), createLog('silent'))
    : openSqlite(join(folder, 'test.db'));
  await migrateAll(database);
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
  if (postgres) await dropDatabase(postgres, name);
});

/** Inserts an account with an application, a webhook, and pending events of runs that are deleted. */
async function insertAccount(account: string, eventTypes: string, events: number): Promise<void> {
  const age = { created_at: CREATED_AT, updated_at: CREATED_AT };
  await database.transact(async (tx) => {
    await tx
      .insertInto('applications')
      .values({
        ...age,
        uid: `application of ${account}`,
        account_id: account as AccountId,
        id: 'app' as ApplicationId,
        name: 'app',
        description: '',
        type: 'custom',
        default_instance: 'latest',
        default_experiment_instance: 'latest',
        active_executable_id: null,
        deleted_at: null,
      })
      .execute();
    await tx
      .insertInto('webhooks')
      .values({
        ...age,
        uid: `webhook of ${account}`,
        account_id: account as AccountId,
        id: 'webhook' as WebhookId,
        event_types: eventTypes,
        endpoint_url: 'https://example.com/',
        given_locally: 0,
        description: '',
        secret: new Uint8Array(32),
        previous_secret: null,
        previous_until: null,
        disabled_at: null,
      })
      .execute();
    for (let run = 0; run < events; run += 1)
      await tx
        .insertInto('run_events')
        .values({
          run_id: `run-${account}-${run}` as RunId,
          application_uid: `application of ${account}`,
          status: 'succeeded',
          at: CREATED_AT,
          pending: 1,
        })
        .execute();
  });
}

/** Deliveries by webhook. */
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
