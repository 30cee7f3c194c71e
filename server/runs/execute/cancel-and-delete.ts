/**
 * Cancel and delete. A run that waits, for its turn or for its result, ends at once; a running one is marked, and the worker that has it, on whichever
 * machine, is told and ends its app. Deleting takes the row away: the worker finds it gone and ends the app too. The run of an
 * ensemble is marked as well; whoever advances it cancels what it consists of.
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

/** Does nothing to a run that has ended. */
export async function cancelRun({ database, clock }: Parts, run: RunsTable): Promise<void> {
  const error = `The run was canceled before it ${run.status === 'none' ? 'had a result' : 'started'}.`;
  const status = await database.transact((tx) => cancelOrRequestCancel(tx, run, error, clock.now()));
  if (status) database.notify(status === 'canceled' ? 'runs-ended' : 'runs-canceled');
}

const LOG_CHUNK_BATCH_SIZE = 500;

/**
 * Removes runs with their contents, whatever their status, and with that of an ensemble those that it consists of. Lines of
 * logs go before the run, in small transactions, for there may be a day's worth of them; those that were written since go
 * in the run's own, after its row, which whoever writes lines holds. So a crash in between leaves no line of a run that is
 * not there.
 */
export async function deleteRuns(
  { database, contents }: Parts,
  runs: readonly (Pick<RunsTable, 'id'> & Partial<Pick<RunsTable, 'run_type'>>)[],
): Promise<void> {
  const named = runs.map((run) => run.id);
  const ensembles = runs.filter((run) => run.run_type === 'ensemble').map((run) => run.id);
  const removeAllLines = async (ids: readonly RunId[]): Promise<void> => {
    const some = (tx: Writer) => removeLogChunksOfRuns(tx, ids, LOG_CHUNK_BATCH_SIZE);
    while ((await database.transact(some, { durable: false })) === LOG_CHUNK_BATCH_SIZE);
  };
  await removeAllLines([...named, ...(await listChildRunIds(database.read, ensembles))]);
  const { behind, blobs } = await database.transact(async (tx) => {
    const left = await removeRuns(tx, named);
    // Looked for once nothing is planned any more: what was about to be born is born by then, or never will be.
    const children = await listChildRunIds(tx, ensembles);
    left.push(...(await removeRuns(tx, children)));
    const gone = [...named, ...children];
    const isMore = (await removeLogChunksOfRuns(tx, gone, LOG_CHUNK_BATCH_SIZE)) === LOG_CHUNK_BATCH_SIZE;
    return { behind: isMore ? gone : [], blobs: await contents.remove(tx, left) };
  });
  database.notify('runs-canceled');
  await contents.removeBlobs(blobs);
  // Of apps that wrote more than a hundred megabytes in between.
  if (behind.length > 0) await removeAllLines(behind);
}
