/**
 * Cancels and deletes runs. A run that is queued, or waits for its result, is canceled at once. For a running one the cancel
 * request is stored, and its worker is notified and ends the app. Deleting a run removes its row; its worker ends the app
 * when the row is gone. An ensemble run stores the request too, and the job that advances ensembles cancels its child runs.
 */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Contents } from '../../blobs/contents.ts';
import type { Clock } from '../../clock.ts';
import type { Database, Writer } from '../../database/database.ts';
import { listChildRunIds } from '../store/ensemble-runs.ts';
import { removeLogChunksOfRuns } from '../store/log-chunks.ts';
import { removeRuns } from '../store/runs.ts';
import type { RunsTable } from '../store/schema.ts';
import { cancelOrRequestCancel } from '../store/transitions.ts';

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
}

/** Cancels a run, or requests its cancel while it is running. Does nothing to a run that has ended. */
export async function cancelRun({ database, clock }: Parts, run: RunsTable): Promise<void> {
  const error = `The run was canceled before it ${run.status === 'none' ? 'had a result' : 'started'}.`;
  const status = await database.transact((tx) => cancelOrRequestCancel(tx, run, error, clock.now()));
  if (status) database.notify(status === 'canceled' ? 'runs-ended' : 'runs-canceled');
}

const LOG_CHUNK_BATCH_SIZE = 500;

/**
 * Removes runs in any status with their contents, and the child runs of ensemble runs. Log lines are removed before the
 * run, in small transactions, because there may be a day of them. Lines written since then are removed in the transaction
 * of the run, after its row, because the writer of a line locks that row. So a crash leaves no lines of a run that is gone.
 */
export async function deleteRuns(
  { database, contents }: Parts,
  runs: readonly (Pick<RunsTable, 'id'> & Partial<Pick<RunsTable, 'run_type'>>)[],
): Promise<void> {
  const requested = runs.map((run) => run.id);
  const ensembles = runs.filter((run) => run.run_type === 'ensemble').map((run) => run.id);
  const removeAllLines = async (ids: readonly RunId[]): Promise<void> => {
    const some = (tx: Writer) => removeLogChunksOfRuns(tx, ids, LOG_CHUNK_BATCH_SIZE);
    while ((await database.transact(some, { durable: false })) === LOG_CHUNK_BATCH_SIZE);
  };
  await removeAllLines([...requested, ...(await listChildRunIds(database.read, ensembles))]);
  const { unfinished, blobs } = await database.transact(async (tx) => {
    const contentIds = await removeRuns(tx, requested);
    // After the plans are removed: no planned run can be submitted any more, so this finds the last child runs.
    const children = await listChildRunIds(tx, ensembles);
    contentIds.push(...(await removeRuns(tx, children)));
    const removed = [...requested, ...children];
    const isMore = (await removeLogChunksOfRuns(tx, removed, LOG_CHUNK_BATCH_SIZE)) === LOG_CHUNK_BATCH_SIZE;
    return { unfinished: isMore ? removed : [], blobs: await contents.remove(tx, contentIds) };
  });
  database.notify('runs-canceled');
  await contents.removeBlobs(blobs);
  // Only apps that wrote more than 100 MB of lines in the meantime.
  if (unfinished.length > 0) await removeAllLines(unfinished);
}
