/**
 * Ends batch experiments that have neither planned nor unfinished runs, unless a race continues. Status and results are written in one transaction.
 */
import type { Contents } from '../../platform/blobs/contents.ts';
import type { Database } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { removePlannedEnsembles } from '../ensembles/planned-ensembles.ts';
import { hasOpenRuns, removeInputs } from '../operations/experiment-ends.ts';
import { advanceRace } from '../racing/advance-race.ts';
import {
  findExperimentByUid,
  listIdleExperiments,
  lockExperiment,
  writeExperimentResults,
} from '../store/experiments.ts';
import { transitionBatch } from '../store/transitions.ts';
import { type BatchResultsContext, computeBatchResults, readBatchState } from './batch-results.ts';

const INTERVAL_MS = 5000;
/** When thousands of runs end, the job runs some times a second, not once for each of them. */
const DEBOUNCE_MS = 25;

interface Parts extends JobContext, BatchResultsContext {
  database: Database;
  contents: Contents;
}

/** Ends batch experiments without planned and unfinished runs, and continues races. */
export function finalizeBatchesJob(parts: Parts): Job {
  const { database } = parts;
  return defineJob<string>(parts, {
    name: 'finalize-batches',
    intervalMs: INTERVAL_MS,
    // The deletion of an unfinished run sends the same notification as its cancellation.
    wakeOn: ['runs-ended', 'runs-canceled'],
    debounceMs: DEBOUNCE_MS,
    listRows: () => listIdleExperiments(database.read, 'batch'),
    formatKey: (uid) => uid,
    async handleRow(uid) {
      if (!(await advanceRace(parts, uid))) await endBatch(parts, uid);
    },
  });
}

/** Ends the batch with its results; computes them again when runs were deleted during the computation. */
async function endBatch(parts: Parts, uid: string): Promise<void> {
  const { database, contents, clock } = parts;
  const experiment = await findExperimentByUid(database.read, uid);
  if (experiment?.status !== 'started') return;
  const before = await readBatchState(database.read, experiment);
  const results = await computeBatchResults(parts, experiment, 'complete');
  const status = (before.counts.statuses.succeeded ?? 0) > 0 ? 'completed' : 'failed';
  const blobs = await database.transact(async (tx) => {
    const locked = await lockExperiment(tx, uid);
    // A run that joined meanwhile delays the end. After the deletion of a run the results are computed again.
    if (locked?.status !== 'started' || (await hasOpenRuns(tx, uid))) return [];
    if ((await readBatchState(tx, locked)).key !== before.key) return null;
    const now = clock.now();
    const ending = { completed_at: now, updated_at: now };
    await transitionBatch(tx, uid, { from: 'started', to: status }, ending);
    await writeExperimentResults(tx, uid, results);
    await removePlannedEnsembles(tx, uid);
    return removeInputs(contents, tx, uid);
  });
  if (blobs === null) return endBatch(parts, uid);
  database.notify('experiments-ended');
  await contents.removeBlobs(blobs);
}
