/** Statements on share links. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../database/database.ts';
import type { RunSharesTable } from './schema.ts';

export async function insertShare(tx: Writer, share: RunSharesTable): Promise<void> {
  await tx.insertInto('run_shares').values(share).execute();
}

/** Returns the link, also when it has expired; undefined for an unknown one. */
export function findShare(db: Reader, id: string): Promise<RunSharesTable | undefined> {
  return db.selectFrom('run_shares').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Lists the links of a run that have not expired, newest first. */
export function listShares(db: Reader, run: RunId, now: number): Promise<RunSharesTable[]> {
  return db
    .selectFrom('run_shares')
    .selectAll()
    .where('run_id', '=', run)
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** Deletes the link of the run; returns false when it has none with that id. */
export async function deleteShare(tx: Writer, run: RunId, id: string): Promise<boolean> {
  const result = await tx
    .deleteFrom('run_shares')
    .where('id', '=', id)
    .where('run_id', '=', run)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Deletes at most `limit` expired links; returns how many. */
export async function deleteExpiredShares(tx: Writer, now: number, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('run_shares')
    .where('id', 'in', (eb) =>
      eb.selectFrom('run_shares').select('id').where('expires_at', '<=', now).limit(limit),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
