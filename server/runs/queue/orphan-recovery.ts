/** Requeues the runs of dead workers. */
import type { Clock } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import type { Metrics } from '../../http/metrics.ts';
import { Reconciler } from '../../jobs/reconciler.ts';
import type { Log } from '../../log.ts';
import { DeadWorkerDetector } from '../../workers/workers.ts';
import { listOrphanedRuns } from '../store/transitions.ts';
import { requeueOrEnd } from './requeue.ts';

const RECOVERY_INTERVAL_MS = 5000;
const ORPHAN_BATCH_SIZE = 500;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** Removes dead workers and requeues the runs without a live worker. Wakes when a worker starts or stops. */
export function createOrphanRecoveryJob(parts: Parts): Reconciler {
  const { database, clock, log, metrics } = parts;
  const detector = new DeadWorkerDetector(database, clock);

  const recoverBatch = async (): Promise<boolean> => {
    const orphans = await listOrphanedRuns(database.read, ORPHAN_BATCH_SIZE);
    for (const run of orphans) {
      const why = 'the worker that executed it died.';
      const status = await database.transact((tx) => requeueOrEnd(tx, run, why, clock.now()));
      if (!status) continue;
      if (status === 'queued') metrics.runsRequeued.inc();
      else metrics.runsFinished.inc({ status });
      database.notify(status === 'queued' ? 'runs-queued' : 'runs-ended');
      log.warn(
        { run: run.id, attempt: run.attempt, worker: run.worker_id, status },
        'A run was taken from a dead worker.',
      );
    }
    return orphans.length === ORPHAN_BATCH_SIZE;
  };

  const reconciler = new Reconciler({
    name: 'rescue runs',
    intervalMs: RECOVERY_INTERVAL_MS,
    clock,
    log,
    run: async () => {
      for (const worker of await detector.removeDead()) log.warn({ worker }, 'A worker is taken for dead.');
      while (await recoverBatch());
    },
  });
  database.listen('workers-changed', () => reconciler.wake());
  return reconciler;
}
