/**
 * Holds on blobs. A backup reads the database at one instant and copies the blobs that it names afterwards, so none of
 * them may go in between. A hold ends by itself, so that a backup that died holds nothing for ever.
 */
import type { Reader, Writer } from '../database/database.ts';

/** Clocks of several machines may differ by less than this takes off. */
const HOLD_DURATION_MS = 10 * 60 * 1000;

/** Whether blobs that nobody names must stay. */
export async function hasBackupHold(db: Reader, now: number): Promise<boolean> {
  const holds = db.selectFrom('backup_holds').select('id').where('expires_at', '>', now);
  return (await holds.executeTakeFirst()) !== undefined;
}

/** Holds all blobs from the commit on, and forgets holds that have ended. */
export async function acquireBackupHold(tx: Writer, id: string, now: number): Promise<void> {
  await tx.deleteFrom('backup_holds').where('expires_at', '<=', now).execute();
  await tx
    .insertInto('backup_holds')
    .values({ id, expires_at: now + HOLD_DURATION_MS })
    .execute();
}

/** Puts the end of the hold off; answers false when it has ended already. */
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
