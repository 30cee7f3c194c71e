/**
 * Removes executables that nothing uses any more: first the archive, once nothing can execute it, then the row, once no run
 * names it (ended runs do: which of their options are hidden stands there). A push takes the place of the active
 * executable, so without this every push would keep its archive until the application goes.
 *
 * What must stay true: no version, and no run that has not ended, names an executable without its archive. Whoever makes
 * one holds the row (holdExecutable); what is removed here is looked at again under the lock. An executable is noted as
 * unused first and removed an hour later, so that requests under way when it was replaced are still served.
 */

import { UNUSED_ARCHIVE_RETENTION_MS } from '@switchyard/contract/limits.ts';
import type { ExecutableId } from '@switchyard/contract/schemas/ids.ts';
import {
  findActiveExecutables,
  listExecutables,
  lockExecutableForRemoval,
  markArchiveRemoved,
  markUnused,
  removeExecutable,
} from '../applications/executables-store.ts';
import type { ExecutablesTable } from '../applications/schema.ts';
import type { Contents } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database, Reader } from '../database/database.ts';
import { Reconciler } from '../jobs/reconciler.ts';
import type { Log } from '../log.ts';
import { findExecutablesInUse } from '../runs/store/runs.ts';
import { findExecutablesWithVersion } from '../versions/store.ts';

const BATCH_SIZE = 100;
/** How often it goes round. */
export const INTERVAL_MS = 15 * 60 * 1000;

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
  log: Log;
}

/** What can still be executed, or is about to be. */
async function findUsed(db: Reader, ids: readonly ExecutableId[]): Promise<Set<ExecutableId>> {
  return new Set([
    ...(await findActiveExecutables(db, ids)),
    ...(await findExecutablesWithVersion(db, ids)),
    ...(await findExecutablesInUse(db, ids, true)),
  ]);
}

export function createExecutableCleanUpJob({ database, contents, clock, log }: Parts): Reconciler {
  const look = async (batch: readonly ExecutablesTable[]): Promise<void> => {
    const ids = batch.map((one) => one.id);
    const used = await findUsed(database.read, ids);
    const named = new Set(await findExecutablesInUse(database.read, ids, false));
    const unused = batch.filter((one) => !used.has(one.id));
    const fresh = unused.filter((one) => one.unused_since === null).map((one) => one.id);
    const again = batch.filter((one) => used.has(one.id) && one.unused_since !== null).map((one) => one.id);
    if (fresh.length + again.length > 0) {
      await database.transact(async (tx) => {
        await markUnused(tx, fresh, clock.now());
        await markUnused(tx, again, null);
      });
    }
    for (const { id, unused_since, archive_removed_at } of unused) {
      const due = unused_since !== null && unused_since <= clock.now() - UNUSED_ARCHIVE_RETENTION_MS;
      if (due && (archive_removed_at === null || !named.has(id))) await removeOne(id);
    }
  };

  const removeOne = async (id: ExecutableId): Promise<void> => {
    const blobs = await database.transact(async (tx) => {
      const held = await lockExecutableForRemoval(tx, id);
      if (!held || (await findUsed(tx, [id])).has(id)) return [];
      if ((await findExecutablesInUse(tx, [id], false)).length === 0) await removeExecutable(tx, id);
      else await markArchiveRemoved(tx, id, clock.now());
      return contents.remove(tx, [held.content_id]);
    });
    await contents.removeBlobs(blobs);
  };

  return new Reconciler({
    name: 'remove unused executables',
    intervalMs: INTERVAL_MS,
    clock,
    log,
    run: async () => {
      let after = '';
      for (;;) {
        const batch = await listExecutables(database.read, after, BATCH_SIZE);
        if (batch.length > 0) await look(batch);
        if (batch.length < BATCH_SIZE) return;
        after = batch.at(-1)?.id ?? '';
      }
    },
  });
}
