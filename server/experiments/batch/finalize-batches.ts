/**
 * Ends batch experiments: one of which nothing is planned and nothing unfinished is looked at, and is over with what was
 * found, in one transaction. When runs end by the thousand it looks again some times a second, not for each of them.
 */
import type { Contents } from '../../blobs/contents.ts';
import type { Clock } from '../../clock.ts';
import type { Database, Reader } from '../../database/database.ts';
import { Reconciler } from '../../jobs/reconciler.ts';
import { RowBackoff } from '../../jobs/row-backoff.ts';
import type { Log } from '../../log.ts';
import { hasUnfinishedRuns } from '../../runs/store/experiment-runs.ts';
import { hasWaitingPlannedRuns } from '../../runs/store/planned-runs.ts';
import {
  findExperimentByUid,
  listIdleExperiments,
  lockExperiment,
  removeExperimentInputs,
  updateExperiment,
  writeExperimentResults,
} from '../store/experiments.ts';
import { computeBatchResults, readBatchState } from './batch-results.ts';

const EVERY_MS = 5000;
const TOGETHER_MS = 25;
const INPUTS_AT_ONCE = 500;

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
  log: Log;
}

export function finalizeBatchesJob(parts: Parts): Reconciler {
  const { database, clock, log } = parts;
  const setbacks = new RowBackoff(parts, 'A batch experiment could not be ended; it will be tried again.');
  const reconciler = new Reconciler({
    name: 'end batch experiments',
    intervalMs: EVERY_MS,
    clock,
    log,
    run: async () => {
      for (const uid of await listIdleExperiments(database.read, 'batch'))
        await setbacks.run(uid, () => end(parts, uid));
    },
  });
  // A run that is deleted before it ended tells the workers that it is gone.
  for (const topic of ['runs-ended', 'runs-canceled'] as const)
    database.listen(topic, () => reconciler.wakeWithin(TOGETHER_MS));
  return reconciler;
}

/** What is planned is looked at first: a run that is born between the two looks is found by the second. */
async function goesOn(db: Reader, uid: string): Promise<boolean> {
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
    // A run that has joined meanwhile is waited for, and one that was deleted is not in what was found: it is looked again.
    if (held?.status !== 'started' || (await goesOn(tx, uid))) return [];
    if ((await readBatchState(tx, held)).key !== before.key) return null;
    const now = clock.now();
    await updateExperiment(tx, uid, { status, completed_at: now, updated_at: now }, 'started');
    await writeExperimentResults(tx, uid, results);
    const gone: string[] = [];
    for (;;) {
      const named = await removeExperimentInputs(tx, uid, INPUTS_AT_ONCE);
      gone.push(...(await contents.remove(tx, named)));
      if (named.length < INPUTS_AT_ONCE) return gone;
    }
  });
  if (blobs === null) return end(parts, uid);
  database.notify('experiments-ended');
  await contents.removeBlobs(blobs);
}
