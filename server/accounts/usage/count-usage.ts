/** Adds the usage records of ended runs to the totals of their day, application and user. */
import { CLASS_LIMITS, type ClassLimits } from '@switchyard/contract/execution-classes.ts';
import type { Selectable } from 'kysely';
import type { Database } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import type { UsageDaysTable, UsageRecordsTable } from './schema.ts';
import { addSlotTime, removeOldSlotTimes, sumSlotTimes } from './slot-times.ts';
import { addToTotal, removeOldestRecords } from './store.ts';

const INTERVAL_MS = 60_000;
/** Runs that end together are counted together. */
const DEBOUNCE_MS = 2_000;
const BATCH_SIZE = 500;
export const DAY_MS = 24 * 60 * 60 * 1000;

const CLASSES: Readonly<Record<string, ClassLimits>> = CLASS_LIMITS;

/** Returns the totals of the records, one for each day, application and user, in the order of their keys. */
export function sumUsage(records: readonly Selectable<UsageRecordsTable>[]): UsageDaysTable[] {
  const totals = new Map<string, UsageDaysTable>();
  for (const record of records) {
    const { account_id, application_id, user_email } = record;
    const day = Math.floor(record.ended_at / DAY_MS);
    const key = JSON.stringify([account_id, day, application_id, user_email]);
    const total = totals.get(key) ?? {
      account_id,
      day,
      application_id,
      user_email,
      runs: 0,
      failed_runs: 0,
      run_ms: 0,
      core_ms: 0,
      bytes: 0,
    };
    // An external run is executed elsewhere, and the child runs of an ensemble count for themselves.
    const ms = record.run_type === 'standard' ? (record.execution_ms ?? 0) : 0;
    total.runs += 1;
    total.failed_runs += record.status === 'failed' ? 1 : 0;
    total.run_ms += ms;
    total.core_ms += ms * (CLASSES[record.execution_class]?.cores ?? 1);
    total.bytes += record.bytes;
    totals.set(key, total);
  }
  // In one order for all processes: PostgreSQL would end one of two that lock the same rows in different orders.
  return [...totals].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, total]) => total);
}

/** The job that counts usage. A record is removed in the transaction that counts it, so none counts twice. */
export function countUsageJob(parts: JobContext & { database: Database }): Job {
  const { database, clock } = parts;
  return defineJob(parts, {
    name: 'count-usage',
    intervalMs: INTERVAL_MS,
    wakeOn: ['runs-ended'],
    debounceMs: DEBOUNCE_MS,
    batchSize: BATCH_SIZE,
    handle: (limit) =>
      database.transact(
        async (tx) => {
          const records = await removeOldestRecords(tx, limit);
          for (const total of sumUsage(records)) await addToTotal(tx, total);
          for (const sum of sumSlotTimes(records)) await addSlotTime(tx, sum);
          await removeOldSlotTimes(tx, clock.now());
          return records.length;
        },
        { durable: false },
      ),
  });
}
