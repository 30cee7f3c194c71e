/** Stores the values of runs from before the table of values, newest first, while the server serves requests. */

import { LRUCache } from 'lru-cache';
import type { Database, Reader, Writer } from '../../database/database.ts';
import { isAfter } from '../../database/list-order.ts';
import { prepareStatement } from '../../database/prepared-statements.ts';
import { locked } from '../../database/row-locks.ts';
import { NotReadyError } from '../../http/errors/problem.ts';
import { defineJob, type Job, type JobContext } from '../../jobs/define-job.ts';
import { memoizeByObject } from '../../memoize.ts';
import { INDEXED_COLUMNS } from '../values/list-run-values.ts';
import { insertRunValues } from '../values/run-values.ts';

/** Keeps a transaction within 20 ms, which other writers wait for. */
const BATCH_RUNS = 100;
const INTERVAL_MS = 60_000;
const RETRY_AFTER_S = 30;
const COMPLETE_APPLICATIONS_MAX = 10_000;

const findBackfill = prepareStatement((db, { applicationUid }: { applicationUid: string }) =>
  db.selectFrom('run_backfills').select('application_uid').where('application_uid', '=', applicationUid),
);

/** Applications without older runs to read. They stay so, because only a migration adds a row to `run_backfills`. */
const getCompleteApplications = memoizeByObject(
  (_db: Reader) => new LRUCache<string, true>({ max: COMPLETE_APPLICATIONS_MAX }),
);

/** Throws a 503 while older runs of the application have no values: a filter would omit them. */
export async function assertBackfilled(db: Reader, applicationUid: string): Promise<void> {
  const complete = getCompleteApplications(db);
  if (complete.has(applicationUid)) return;
  const rows = await findBackfill(db, { applicationUid });
  if (rows.length === 0) complete.set(applicationUid, true);
  else
    throw new NotReadyError(
      'The server still prepares filters for runs from before its last update. Retry in some minutes; lists without filter and sort work.',
      RETRY_AFTER_S,
    );
}

/** Stores the values of older runs, application by application. */
export function storeRunValuesJob(parts: JobContext & { database: Database }): Job {
  const { database } = parts;
  return defineJob(parts, {
    name: 'store-run-values',
    intervalMs: INTERVAL_MS,
    listRows: async () => await database.read.selectFrom('run_backfills').select('application_uid').execute(),
    formatKey: ({ application_uid }) => application_uid,
    handleRow: async ({ application_uid }) => {
      while (await database.transact((tx) => storeBatch(tx, application_uid), { durable: false }));
    },
  });
}

/** Stores the values of the next runs; returns false after the last. */
async function storeBatch(tx: Writer, applicationUid: string): Promise<boolean> {
  const progress = tx.selectFrom('run_backfills').selectAll().where('application_uid', '=', applicationUid);
  const position = await locked(tx, progress, 'update').executeTakeFirst();
  if (!position) return false;
  // The locks keep a run from ending meanwhile, which would store its values twice with two statuses.
  const runs = await locked(
    tx,
    tx
      .selectFrom('runs')
      .select(INDEXED_COLUMNS)
      .where('application_uid', '=', applicationUid)
      .where(isAfter('runs', { at: position.created_at, id: position.run_id }))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(BATCH_RUNS),
    'update',
  ).execute();
  for (const run of runs)
    if (run.status !== 'queued' && run.status !== 'running') await insertRunValues(tx, run);
  const last = runs.at(-1);
  if (!last || runs.length < BATCH_RUNS) {
    await removeRunBackfill(tx, applicationUid);
    return false;
  }
  await tx
    .updateTable('run_backfills')
    .set({ created_at: last.created_at, run_id: last.id })
    .where('application_uid', '=', applicationUid)
    .execute();
  return true;
}

/** Removes the progress of the application. */
export async function removeRunBackfill(tx: Writer, applicationUid: string): Promise<void> {
  await tx.deleteFrom('run_backfills').where('application_uid', '=', applicationUid).execute();
}
