/** Deletes log chunks and run events after their retention period. */
import { LIVE_LOG_RETENTION_MS } from '@switchyard/contract/limits.ts';
import type { Database } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { removeLogChunksBefore } from '../store/log-chunks.ts';
import { removeRunEventsBefore } from '../store/run-events.ts';

/** Small transactions, so that other writers do not wait long. */
const CLEAN_UP_BATCH_SIZE = 500;
const CLEAN_UP_INTERVAL_MS = 10 * 60 * 1000;
const EVENT_RETENTION_MS = 7 * 24 * 60 * 60 * 1000;

interface Parts extends JobContext {
  database: Database;
}

/** Removes log chunks after 24 hours. */
export function removeOldLogChunksJob(parts: Parts): Job {
  const { database, clock } = parts;
  return defineJob(parts, {
    name: 'remove-old-log-chunks',
    intervalMs: CLEAN_UP_INTERVAL_MS,
    batchSize: CLEAN_UP_BATCH_SIZE,
    handle: (limit) =>
      database.transact((tx) => removeLogChunksBefore(tx, clock.now() - LIVE_LOG_RETENTION_MS, limit), {
        durable: false,
      }),
  });
}

/** Removes run events after a week. */
export function removeOldRunEventsJob(parts: Parts): Job {
  const { database, clock } = parts;
  return defineJob(parts, {
    name: 'remove-old-run-events',
    intervalMs: CLEAN_UP_INTERVAL_MS,
    batchSize: CLEAN_UP_BATCH_SIZE,
    handle: (limit) =>
      database.transact((tx) => removeRunEventsBefore(tx, clock.now() - EVENT_RETENTION_MS, limit), {
        durable: false,
      }),
  });
}
