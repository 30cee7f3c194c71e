/**
 * Cancel and delete. A queued run ends at once; a running one is marked, and the worker that has it, on whichever
 * machine, is told and ends its app. Deleting takes the row away: the worker finds it gone and ends the app too.
 */
import type { Contents } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { RunsTable } from './schema.ts';
import { askToCancel, endQueued, removeRuns } from './store.ts';

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
}

export async function cancel({ database, clock }: Parts, run: RunsTable): Promise<void> {
  const asked = await database.transact(async (tx) => {
    const now = clock.now();
    const ending = {
      status: 'canceled',
      error: 'The run was canceled before it started.',
      finished_at: now,
    } as const;
    if (await endQueued(tx, run, ending)) return false;
    return askToCancel(tx, run.id, now);
  });
  database.notify(asked ? 'runs-canceled' : 'runs-ended');
}

/** Removes the run with its contents, whatever its status. */
export async function remove(
  { database, contents }: Parts,
  runs: readonly Pick<RunsTable, 'id'>[],
): Promise<void> {
  const blobs = await database.transact(async (tx) =>
    contents.remove(
      tx,
      await removeRuns(
        tx,
        runs.map((run) => run.id),
      ),
    ),
  );
  database.notify('runs-canceled');
  await contents.removeBlobs(blobs);
}
