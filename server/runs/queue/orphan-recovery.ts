/** Requeues the runs of dead workers. */
import type { Database } from '../../platform/database/database.ts';
import type { Metrics } from '../../platform/http/metrics.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import { listOrphanedRuns, type RunLease } from '../store/leases.ts';
import { readTracedRun, recordAttempt } from '../tracing/run-spans.ts';
import { DeadWorkerDetector } from '../workers/workers.ts';
import { requeueOrEnd } from './requeue.ts';

const RECOVERY_INTERVAL_MS = 5000;
const ORPHAN_BATCH_SIZE = 500;

interface Parts extends JobContext {
  database: Database;
  metrics: Metrics;
  tracing: Tracing | null;
}

/** Removes dead workers and requeues the runs without a live worker. Wakes when a worker starts or stops. */
export function recoverOrphanedRunsJob(parts: Parts): Job {
  const { database, clock, log, metrics, tracing } = parts;
  const detector = new DeadWorkerDetector(database, clock);
  return defineJob<RunLease>(parts, {
    name: 'recover-orphaned-runs',
    intervalMs: RECOVERY_INTERVAL_MS,
    wakeOn: ['workers-changed'],
    batchSize: ORPHAN_BATCH_SIZE,
    async listRows(limit) {
      // The runs of a dead worker are orphans once its row is removed.
      for (const workerId of await detector.removeDead())
        log.warn({ workerId }, 'Worker declared dead: no heartbeat for 30 s; its runs are requeued.');
      return listOrphanedRuns(database.read, limit);
    },
    formatKey: (run) => run.id,
    async handleRow(run) {
      const reason = 'the worker that executed it died.';
      const now = clock.now();
      const claimed = await readTracedRun(parts, run);
      const status = await database.transact((tx) => requeueOrEnd(tx, run, { reason, now }));
      if (!status) return;
      if (status === 'queued') metrics.runsRequeued.inc();
      else metrics.runsFinished.inc({ status });
      if (claimed) recordAttempt(tracing, { run: claimed, end: { kind: 'dead' }, status, storedAt: now });
      database.notify(status === 'queued' ? 'runs-queued' : 'runs-ended');
      log.warn(
        { run: run.id, attempt: run.attempt, worker: run.worker_id, status },
        'Lease of a dead worker on a run ended.',
      );
    },
  });
}
