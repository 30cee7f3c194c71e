/** Statements on the problems under way, and the list of the accounts to check. */
import type { QueueProblemKind } from '@switchyard/contract/account/event-types.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../../platform/database/database.ts';
import type { QueueProblemsTable } from './schema.ts';

/** Lists the accounts with an enabled webhook for problems, and those with a problem under way. */
export async function listWatchedAccounts(db: Reader): Promise<AccountId[]> {
  const rows = await db
    .selectFrom('webhooks')
    .select('account_id')
    .where('disabled_at', 'is', null)
    .where('event_types', 'like', '%"queue.trouble"%')
    .union(db.selectFrom('queue_problems').select('account_id'))
    .orderBy('account_id')
    .execute();
  return rows.map(({ account_id }) => account_id);
}

/** Lists the problems of the account that are under way. */
export function listProblems(db: Reader, account: AccountId): Promise<QueueProblemsTable[]> {
  return db.selectFrom('queue_problems').selectAll().where('account_id', '=', account).execute();
}

export async function insertProblem(tx: Writer, problem: QueueProblemsTable): Promise<void> {
  await tx.insertInto('queue_problems').values(problem).execute();
}

export async function updateProblem(
  tx: Writer,
  { account_id, kind }: QueueProblemsTable,
  columns: Partial<Pick<QueueProblemsTable, 'begun' | 'absent_since'>>,
): Promise<void> {
  await tx
    .updateTable('queue_problems')
    .set(columns)
    .where('account_id', '=', account_id)
    .where('kind', '=', kind)
    .execute();
}

/** Deletes the problem of the kind; without a kind, all problems of the account. */
export async function deleteProblems(tx: Writer, account: AccountId, kind?: QueueProblemKind): Promise<void> {
  let query = tx.deleteFrom('queue_problems').where('account_id', '=', account);
  if (kind !== undefined) query = query.where('kind', '=', kind);
  await query.execute();
}
