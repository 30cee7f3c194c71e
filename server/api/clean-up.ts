/**
 * Removes what belonged to deleted applications, a batch at a time, runs first. The application's own row goes last, so
 * that a process that dies in between carries on where it was. The row of a deleted account stays until no request that
 * was let in before can still bring anything new.
 */
import { listDeletedAccounts, removeAccount } from '../account/store.ts';
import {
  deleteApplicationsOf,
  hasApplications,
  listDeleted,
  removeApplication,
  removeExecutables,
} from '../applications/store.ts';
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
/** Longer than any request takes. */
const ACCOUNT_KEPT_MS = 60 * 60 * 1000;

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

  /** What came in after the account was deleted goes, too, and in the end the account itself. */
  const removeAccounts = async (): Promise<void> => {
    for (const { id, deleted_at } of await listDeletedAccounts(database.read)) {
      await database.transact((tx) => deleteApplicationsOf(tx, id, clock.now()));
      const isOld = clock.now() - (deleted_at ?? 0) >= ACCOUNT_KEPT_MS;
      if (isOld && !(await hasApplications(database.read, id)))
        await database.transact((tx) => removeAccount(tx, id));
    }
  };

  return new Reconciler({
    name: 'clean up deleted applications and accounts',
    everyMs: EVERY_MS,
    clock,
    log,
    run: async () => {
      for (const uid of await listDeleted(database.read)) await removeAll(uid);
      await removeAccounts();
    },
  });
}
