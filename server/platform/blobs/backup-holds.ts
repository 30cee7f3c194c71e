/**
 * Holds that keep blobs while a backup runs. A backup reads the database as of one instant and copies its blobs afterwards,
 * so the server must not remove any of them meanwhile. A hold expires, so that a killed backup blocks removal for ten
 * minutes only.
 */
import type { Reader, Writer } from '../database/database.ts';

/** Far more than the clocks of several machines may differ (shared-folder.ts). */
const HOLD_DURATION_MS = 10 * 60 * 1000;

/** Reports whether a backup under way needs blobs without a row. `now` is in milliseconds since the epoch. */
export async function hasBackupHold(db: Reader, now: number): Promise<boolean> {
  const holds = db.selectFrom('backup_holds').select('id').where('expires_at', '>', now);
  return (await holds.executeTakeFirst()) !== undefined;
}

/** Holds all blobs from the commit on, and deletes expired holds. */
export async function acquireBackupHold(tx: Writer, id: string, now: number): Promise<void> {
  await tx.deleteFrom('backup_holds').where('expires_at', '<=', now).execute();
  await tx
    .insertInto('backup_holds')
    .values({ id, expires_at: now + HOLD_DURATION_MS })
    .execute();
}

/** Extends the hold. Returns false when it has expired. */
export async function renewBackupHold(tx: Writer, id: string, now: number): Promise<boolean> {
  const renewed = await tx
    .updateTable('backup_holds')
    .set({ expires_at: now + HOLD_DURATION_MS })
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return renewed.numUpdatedRows === 1n;
}

/** Ends the hold. */
export async function releaseBackupHold(tx: Writer, id: string): Promise<void> {
  await tx.deleteFrom('backup_holds').where('id', '=', id).execute();
}
