/** Functions that the jobs share that end experiments with runs of their own. */
import type { Contents } from '../../platform/blobs/contents.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { cancelRun } from '../../runs/execute/cancel-and-delete.ts';
import { hasUnfinishedRuns, listUnfinishedRuns } from '../../runs/store/experiment-runs.ts';
import { hasWaitingPlannedRuns } from '../../runs/store/planned-runs.ts';
import { removeExperimentInputs } from '../store/experiments.ts';

const CANCEL_BATCH_SIZE = 100;
const INPUT_BATCH_SIZE = 500;

/** Returns true while runs are planned or unfinished. Planned ones come first, so that a run that starts between the two queries is found. */
export async function hasOpenRuns(db: Reader, uid: string): Promise<boolean> {
  return (await hasWaitingPlannedRuns(db, uid)) || (await hasUnfinishedRuns(db, uid));
}

/** Cancels unfinished runs of a canceled experiment, as many as one pass of a job handles. */
export async function cancelUnfinishedRuns(
  parts: Parameters<typeof cancelRun>[0],
  uid: string,
): Promise<void> {
  const runs = await listUnfinishedRuns(parts.database.read, uid, CANCEL_BATCH_SIZE);
  for (const run of runs) if (run.cancel_requested_at === null) await cancelRun(parts, run);
}

/** Removes the inputs of an experiment that has ended; returns the blobs to remove after the transaction. */
export async function removeInputs(contents: Contents, tx: Writer, uid: string): Promise<string[]> {
  const blobs: string[] = [];
  for (;;) {
    const contentIds = await removeExperimentInputs(tx, uid, INPUT_BATCH_SIZE);
    blobs.push(...(await contents.remove(tx, contentIds)));
    if (contentIds.length < INPUT_BATCH_SIZE) return blobs;
  }
}
