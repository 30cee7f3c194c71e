/** Queues again what dead workers held, and forgets what is too old to be asked for. */
import { LIVE_LOG_RETENTION_MS } from '@switchyard/contract/limits.ts';
import type { Clock } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Log } from '../log.ts';
import { Obituary } from '../queue/workers.ts';
import { Reconciler } from '../reconcile/reconciler.ts';
import { giveBack } from './give-back.ts';
import { forgetEvents, forgetLines } from './history.ts';
import { listOrphans } from './moves.ts';

const RESCUE_EVERY_MS = 5000;
const RESCUED_AT_ONCE = 500;
const FORGOTTEN_AT_ONCE = 500;
const FORGET_EVERY_MS = 10 * 60 * 1000;
const EVENTS_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** Strikes dead workers off and gives back what no entered worker holds. Looks at once when a worker comes or goes. */
export function rescuer(parts: Parts): Reconciler {
  const { database, clock, log, metrics } = parts;
  const obituary = new Obituary(database, clock);

  const rescueSome = async (): Promise<boolean> => {
    const orphans = await listOrphans(database.read, RESCUED_AT_ONCE);
    for (const run of orphans) {
      const why = 'the worker that executed it died.';
      const status = await database.transact((tx) => giveBack(tx, run, why, clock.now()));
      if (!status) continue;
      if (status === 'queued') metrics.runsRequeued.inc();
      else metrics.runsFinished.inc({ status });
      database.notify(status === 'queued' ? 'runs-queued' : 'runs-ended');
      log.warn(
        { run: run.id, attempt: run.attempt, worker: run.worker_id, status },
        'A run was taken from a dead worker.',
      );
    }
    return orphans.length === RESCUED_AT_ONCE;
  };

  const reconciler = new Reconciler({
    name: 'rescue runs',
    everyMs: RESCUE_EVERY_MS,
    clock,
    log,
    run: async () => {
      for (const worker of await obituary.strikeOffDead())
        log.warn({ worker }, 'A worker is taken for dead.');
      while (await rescueSome());
    },
  });
  database.listen('workers-changed', () => reconciler.poke());
  return reconciler;
}

/** Removes lines of logs after 24 hours and events after a week. */
export function forgetter(parts: Parts): Reconciler {
  const { database, clock, log } = parts;
  // In small transactions, between which others get their turn.
  const repeat = async (forget: (tx: Writer) => Promise<number>): Promise<void> => {
    while ((await database.transact(forget, { durable: false })) === FORGOTTEN_AT_ONCE);
  };
  return new Reconciler({
    name: 'forget old lines and events',
    everyMs: FORGET_EVERY_MS,
    clock,
    log,
    run: async () => {
      const now = clock.now();
      await repeat((tx) => forgetLines(tx, now - LIVE_LOG_RETENTION_MS, FORGOTTEN_AT_ONCE));
      await repeat((tx) => forgetEvents(tx, now - EVENTS_KEPT_MS, FORGOTTEN_AT_ONCE));
    },
  });
}
