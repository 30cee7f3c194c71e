/** Queues again what dead workers held, and forgets what is too old to be asked for. */
import { LIVE_LOG_RETENTION_MS } from '@switchyard/contract/limits.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Log } from '../log.ts';
import { forgetDeadWorkers, livingWorkers } from '../queue/workers.ts';
import { Reconciler } from '../reconcile/reconciler.ts';
import { giveBack } from './give-back.ts';
import { forgetOld, listOrphans } from './store.ts';

const RESCUE_EVERY_MS = 5000;
const FORGET_EVERY_MS = 10 * 60 * 1000;
const EVENTS_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

export function rescuer(parts: Parts): Reconciler {
  const { database, clock, log, metrics } = parts;
  return new Reconciler({
    name: 'rescue runs',
    everyMs: RESCUE_EVERY_MS,
    clock,
    log,
    run: async () => {
      const living = await livingWorkers(database.read, clock.now());
      const orphans = await listOrphans(
        database.read,
        living.map((worker) => worker.id),
      );
      for (const run of orphans) {
        const status = await database.transact((tx) =>
          giveBack(tx, run, 'The worker that executed it died.', clock.now()),
        );
        if (status === 'queued') metrics.runsRequeued.inc();
        if (status)
          log.warn(
            { run: run.id, attempt: run.attempt, worker: run.worker_id, status },
            'A run was taken from a dead worker.',
          );
      }
      if (orphans.length > 0) database.notify('runs-queued');
    },
  });
}

/** Removes lines of logs after 24 hours, events after a week, and workers long dead. */
export function forgetter(parts: Parts): Reconciler {
  const { database, clock, log } = parts;
  return new Reconciler({
    name: 'forget old lines and events',
    everyMs: FORGET_EVERY_MS,
    clock,
    log,
    run: () =>
      database.transact(
        async (tx) => {
          const now = clock.now();
          await forgetOld(tx, { lines: now - LIVE_LOG_RETENTION_MS, events: now - EVENTS_KEPT_MS });
          await forgetDeadWorkers(tx, now);
        },
        { durable: false },
      ),
  });
}
