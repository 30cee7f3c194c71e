/** Deletes expired share links. They have not worked since their expiry. */
import type { Database } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { deleteExpiredShares } from './store.ts';

const INTERVAL_MS = 10 * 60 * 1000;
const BATCH_SIZE = 500;

/** The job that deletes expired share links. */
export function removeExpiredSharesJob(context: JobContext & { database: Database }): Job {
  const { database, clock } = context;
  return defineJob(context, {
    name: 'remove-expired-shares',
    intervalMs: INTERVAL_MS,
    batchSize: BATCH_SIZE,
    handle: (limit) => database.transact((tx) => deleteExpiredShares(tx, clock.now(), limit)),
  });
}
