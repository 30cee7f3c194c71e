/**
 * Cancel and delete. A run that waits, for its turn or for its result, ends at once; a running one is marked, and the worker that has it, on whichever
 * machine, is told and ends its app. Deleting takes the row away: the worker finds it gone and ends the app too.
 */
import type { Contents } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { cancelOrAsk } from './moves.ts';
import type { RunsTable } from './schema.ts';
import { removeRuns } from './store.ts';

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
}

/** Does nothing to a run that has ended. */
export async function cancel({ database, clock }: Parts, run: RunsTable): Promise<void> {
  const error = `The run was canceled before it ${run.status === 'none' ? 'had a result' : 'started'}.`;
  const status = await database.transact((tx) => cancelOrAsk(tx, run, error, clock.now()));
  if (status) database.notify(status === 'canceled' ? 'runs-ended' : 'runs-canceled');
}

/** Removes the run with its contents, whatever its status. */
export async function remove(
  { database, contents }: Parts,
  runs: readonly Pick<RunsTable, 'id'>[],
): Promise<void> {
  const ids = runs.map((run) => run.id);
  const blobs = await database.transact(async (tx) => contents.remove(tx, await removeRuns(tx, ids)));
  database.notify('runs-canceled');
  await contents.removeBlobs(blobs);
}
