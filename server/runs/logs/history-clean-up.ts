/** Deletes log chunks and run events after their retention period. */
import { LIVE_LOG_RETENTION_MS } from '@switchyard/contract/limits.ts';
import type { Clock } from '../../clock.ts';
import type { Database, Writer } from '../../database/database.ts';
import { Reconciler } from '../../jobs/reconciler.ts';
import type { Log } from '../../log.ts';
import { removeLogChunksBefore } from '../store/log-chunks.ts';
import { removeRunEventsBefore } from '../store/run-events.ts';

const CLEAN_UP_BATCH_SIZE = 500;
const CLEAN_UP_INTERVAL_MS = 10 * 60 * 1000;
const EVENT_RETENTION_MS = 7 * 24 * 60 * 60 * 1000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
}

/** Deletes log chunks after 24 hours and events after a week. */
export function createHistoryCleanUpJob({ database, clock, log }: Parts): Reconciler {
  // Small transactions, so that other writers do not wait long.
  const repeat = async (remove: (tx: Writer) => Promise<number>): Promise<void> => {
    while ((await database.transact(remove, { durable: false })) === CLEAN_UP_BATCH_SIZE);
  };
  return new Reconciler({
    name: 'forget old lines and events',
    intervalMs: CLEAN_UP_INTERVAL_MS,
    clock,
    log,
    run: async () => {
      const now = clock.now();
      await repeat((tx) => removeLogChunksBefore(tx, now - LIVE_LOG_RETENTION_MS, CLEAN_UP_BATCH_SIZE));
      await repeat((tx) => removeRunEventsBefore(tx, now - EVENT_RETENTION_MS, CLEAN_UP_BATCH_SIZE));
    },
  });
}
