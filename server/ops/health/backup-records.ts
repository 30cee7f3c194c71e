/** Statements on records of backups. */
import type { Reader, Writer } from '../../platform/database/database.ts';
import type { BackupsTable } from './schema.ts';

/** Adds the record of a backup. */
export async function insertBackup(tx: Writer, backup: BackupsTable): Promise<void> {
  await tx.insertInto('backups').values(backup).execute();
}

/** Lists the newest records first, at most `limit`. */
export function listBackups(db: Reader, limit: number): Promise<BackupsTable[]> {
  return db.selectFrom('backups').selectAll().orderBy('made_at', 'desc').orderBy('id').limit(limit).execute();
}

/** Returns the instant of the newest backup in milliseconds; null without one. */
export async function findLastBackupTime(db: Reader): Promise<number | null> {
  const [last] = await listBackups(db, 1);
  return last?.made_at ?? null;
}

/** Removes the records of the folders. */
export async function deleteBackups(tx: Writer, folders: readonly string[]): Promise<void> {
  if (folders.length > 0) await tx.deleteFrom('backups').where('folder', 'in', folders).execute();
}

/** Stores the result of a check of the backup in the folder; `problem` is empty for a whole backup. */
export async function recordCheck(
  tx: Writer,
  folder: string,
  { at, problem }: { at: number; problem: string },
): Promise<void> {
  await tx.updateTable('backups').set({ verified_at: at, problem }).where('folder', '=', folder).execute();
}
