/**
 * Ends batch experiments that have neither planned nor unfinished runs. Status and results are written in one transaction.
 */
import type { Contents } from '../../blobs/contents.ts';
import type { Database, Reader } from '../../database/database.ts';
import { defineJob, type Job, type JobContext } from '../../jobs/define-job.ts';
import { hasUnfinishedRuns } from '../../runs/store/experiment-runs.ts';
import { hasWaitingPlannedRuns } from '../../runs/store/planned-runs.ts';
import {
  findExperimentByUid,
  listIdleExperiments,
  lockExperiment,
  removeExperimentInputs,
  writeExperimentResults,
} from '../store/experiments.ts';
import { transitionBatch } from '../store/transitions.ts';
import { computeBatchResults, readBatchState } from './batch-results.ts';

const INTERVAL_MS = 5000;
/** When runs end by the thousand, the job runs some times a second and not for each of them. */
const DEBOUNCE_MS = 25;
const INPUT_BATCH_SIZE = 500;

interface Parts extends JobContext {
  database: Database;
  contents: Contents;
}

/** Ends batch experiments without planned and unfinished runs. */
export function finalizeBatchesJob(parts: Parts): Job {
  const { database } = parts;
  return defineJob<string>(parts, {
    name: 'finalize-batches',
    intervalMs: INTERVAL_MS,
    // The deletion of an unfinished run sends the same news as its cancellation.
    wakeOn: ['runs-ended', 'runs-canceled'],
    debounceMs: DEBOUNCE_MS,
    listRows: () => listIdleExperiments(database.read, 'batch'),
    formatKey: (uid) => uid,
    handleRow: (uid) => end(parts, uid),
  });
}

/** Planned runs are read first: the second query finds a run that starts between the two. */
async function hasOpenRuns(db: Reader, uid: string): Promise<boolean> {
  return (await hasWaitingPlannedRuns(db, uid)) || (await hasUnfinishedRuns(db, uid));
}

async function end(parts: Parts, uid: string): Promise<void> {
  const { database, contents, clock } = parts;
  const experiment = await findExperimentByUid(database.read, uid);
  if (experiment?.status !== 'started') return;
  const before = await readBatchState(database.read, experiment);
  const results = await computeBatchResults(database.read, experiment);
  const status = (before.counts.statuses.succeeded ?? 0) > 0 ? 'completed' : 'failed';
  const blobs = await database.transact(async (tx) => {
    const held = await lockExperiment(tx, uid);
    // A run that joined since then delays the end; after a run was deleted the results are computed again.
    if (held?.status !== 'started' || (await hasOpenRuns(tx, uid))) return [];
    if ((await readBatchState(tx, held)).key !== before.key) return null;
    const now = clock.now();
    const ending = { completed_at: now, updated_at: now };
    await transitionBatch(tx, uid, { from: 'started', to: status }, ending);
    await writeExperimentResults(tx, uid, results);
    const gone: string[] = [];
    for (;;) {
      const named = await removeExperimentInputs(tx, uid, INPUT_BATCH_SIZE);
      gone.push(...(await contents.remove(tx, named)));
      if (named.length < INPUT_BATCH_SIZE) return gone;
    }
  });
  if (blobs === null) return end(parts, uid);
  database.notify('experiments-ended');
  await contents.removeBlobs(blobs);
}
