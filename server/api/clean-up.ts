/**
 * Removes what belonged to deleted applications, a batch at a time, runs first. The application's own row goes last, so
 * that a process that dies in between carries on where it was.
 */
import { listDeleted, removeApplication, removeExecutables } from '../applications/store.ts';
import type { Contents } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { removeInputs } from '../inputs/store.ts';
import { removeInstances } from '../instances/store.ts';
import type { Log } from '../log.ts';
import { Reconciler } from '../reconcile/reconciler.ts';
import { remove } from '../runs/cancel.ts';
import { listRunIds } from '../runs/store.ts';
import { removeCollections } from '../secrets/store.ts';
import { removeUploads } from '../uploads/store.ts';
import { removeVersions } from '../versions/store.ts';

const BATCH = 200;
const EVERY_MS = 60_000;

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
  log: Log;
}

export function applicationCleaner(parts: Parts): Reconciler {
  const { database, contents, clock, log } = parts;

  const removeAll = async (uid: string): Promise<void> => {
    for (;;) {
      const runs = await listRunIds(database.read, uid, BATCH);
      if (runs.length === 0) break;
      await remove(
        parts,
        runs.map((id) => ({ id })),
      );
    }
    for (;;) {
      const removed = await database.transact(async (tx) => {
        const ids = await removeInputs(tx, uid, BATCH);
        return { rows: ids.length, blobs: await contents.remove(tx, ids) };
      });
      await contents.removeBlobs(removed.blobs);
      if (removed.rows < BATCH) break;
    }
    const blobs = await database.transact(async (tx) => {
      await removeInstances(tx, uid);
      await removeCollections(tx, uid);
      await removeVersions(tx, uid);
      const kept = [...(await removeExecutables(tx, uid)), ...(await removeUploads(tx, uid))];
      await removeApplication(tx, uid);
      return contents.remove(tx, kept);
    });
    await contents.removeBlobs(blobs);
  };

  return new Reconciler({
    name: 'clean up deleted applications',
    everyMs: EVERY_MS,
    clock,
    log,
    run: async () => {
      for (const uid of await listDeleted(database.read)) await removeAll(uid);
    },
  });
}
