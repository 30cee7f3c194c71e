/** Statements on share links. */
import type { AccountId, ApplicationId, RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { isAfter, type ListPosition } from '../../platform/database/list-order.ts';
import type { RunSharesTable } from './schema.ts';

/** A link with its application and the name of its run. */
export type AccountShareRow = RunSharesTable & {
  application_id: ApplicationId;
  application_name: string;
  run_name: string;
};

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

/**
 * Lists the links of the account that have not expired, newest first: one more than the page has. A link of a deleted
 * application does not work, so the list omits it.
 */
export function listAccountShares(
  db: Reader,
  account: AccountId,
  now: number,
  { after, limit }: { after: ListPosition | null; limit: number },
): Promise<AccountShareRow[]> {
  let query = db
    .selectFrom('run_shares')
    .innerJoin('applications', 'applications.uid', 'run_shares.application_uid')
    .innerJoin('runs', 'runs.id', 'run_shares.run_id')
    .selectAll('run_shares')
    .select(['applications.id as application_id', 'applications.name as application_name'])
    .select('runs.name as run_name')
    .where('run_shares.account_id', '=', account)
    .where('run_shares.expires_at', '>', now)
    .where('applications.deleted_at', 'is', null)
    .orderBy('run_shares.created_at', 'desc')
    .orderBy('run_shares.id', 'desc')
    .limit(limit + 1);
  if (after) query = query.where(isAfter('run_shares', after));
  return query.execute();
}

/** Counts a view of the page. Adds to the stored number, because views may be counted at the same time. */
export async function countView(tx: Writer, id: string, now: number): Promise<void> {
  await tx
    .updateTable('run_shares')
    .set((eb) => ({ views: eb('views', '+', 1), last_viewed_at: now }))
    .where('id', '=', id)
    .execute();
}

/** Records that a view is audited now. Returns false when another was audited after `since`: then this one is not. */
export async function claimViewAudit(
  tx: Writer,
  id: string,
  { now, since }: { now: number; since: number },
): Promise<boolean> {
  const result = await tx
    .updateTable('run_shares')
    .set({ audited_at: now })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('audited_at', 'is', null), eb('audited_at', '<=', since)]))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
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
