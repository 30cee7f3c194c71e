/**
 * Removes unused executables: the archive once nothing can execute it, and the row once no run names it. Ended runs name it
 * because the row says which of their options are hidden. A push replaces the active executable, so without this job every
 * push would keep its archive until the application is deleted.
 *
 * Invariant: no version, and no unfinished run, names an executable without its archive. The creation of either locks the
 * row (lockExecutable), and this job checks again under the lock. An executable is marked as unused first and removed an
 * hour later, so that requests under way when it was replaced are still served.
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
} from '../../apps/applications/executables-store.ts';
import type { ExecutablesTable } from '../../apps/applications/schema.ts';
import { findExecutablesWithVersion } from '../../apps/versions/store.ts';
import type { Contents } from '../../platform/blobs/contents.ts';
import type { Database, Reader } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { findExecutablesInUse } from '../../runs/store/runs.ts';

const BATCH_SIZE = 100;
/** The interval of the job; a test shortens it. */
export const INTERVAL_MS = 15 * 60 * 1000;

interface Parts extends JobContext {
  database: Database;
  contents: Contents;
}

interface ExecutableUse extends ExecutablesTable {
  /** true: the active executable, or used by a version or an unfinished run. */
  isUsed: boolean;
  /** true: a run names it, which may have ended. */
  isNamed: boolean;
}

/** Returns those of the executables that a push, a version or an unfinished run uses. */
async function findUsed(db: Reader, ids: readonly ExecutableId[]): Promise<Set<ExecutableId>> {
  return new Set([
    ...(await findActiveExecutables(db, ids)),
    ...(await findExecutablesWithVersion(db, ids)),
    ...(await findExecutablesInUse(db, ids, true)),
  ]);
}

/** Marks executables that became unused, and removes those that have been unused for an hour. */
export function removeUnusedExecutablesJob(parts: Parts): Job {
  const { database, contents, clock } = parts;

  const listWithUse = async (limit: number, after: string): Promise<ExecutableUse[]> => {
    const batch = await listExecutables(database.read, after, limit);
    // PostgreSQL has no empty list: `in ()` is a syntax error there, which SQLite accepts.
    if (batch.length === 0) return [];
    const ids = batch.map((one) => one.id);
    const used = await findUsed(database.read, ids);
    const named = new Set(await findExecutablesInUse(database.read, ids, false));
    return batch.map((one) => ({ ...one, isUsed: used.has(one.id), isNamed: named.has(one.id) }));
  };

  const markOrRemove = async (executable: ExecutableUse): Promise<void> => {
    const { id, unused_since, archive_removed_at, isUsed, isNamed } = executable;
    if (isUsed !== (unused_since === null)) {
      const since = isUsed ? null : clock.now();
      await database.transact((tx) => markUnused(tx, [id], since));
      return;
    }
    const isDue = unused_since !== null && unused_since <= clock.now() - UNUSED_ARCHIVE_RETENTION_MS;
    if (isDue && (archive_removed_at === null || !isNamed)) await remove(id);
  };

  const remove = async (id: ExecutableId): Promise<void> => {
    const blobs = await database.transact(async (tx) => {
      const locked = await lockExecutableForRemoval(tx, id);
      if (!locked || (await findUsed(tx, [id])).has(id)) return [];
      if ((await findExecutablesInUse(tx, [id], false)).length === 0) await removeExecutable(tx, id);
      else await markArchiveRemoved(tx, id, clock.now());
      return contents.remove(tx, [locked.content_id]);
    });
    await contents.removeBlobs(blobs);
  };

  return defineJob<ExecutableUse>(parts, {
    name: 'remove-unused-executables',
    intervalMs: INTERVAL_MS,
    batchSize: BATCH_SIZE,
    listRows: (limit, after) => listWithUse(limit, after?.id ?? ''),
    formatKey: (executable) => executable.id,
    handleRow: markOrRemove,
  });
}
