/** Statements on worker tokens. */
import { createHash } from 'node:crypto';
import type { AccountId, ApplicationId, KeyId, WorkerTokenId } from '@switchyard/contract/schemas/ids.ts';
import { removeAllowedTokens } from '../../apps/marketplace/allowed-worker-tokens.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import type { WorkerTokensTable } from './schema.ts';

/** Returns the hash by which a token is stored; the token itself is stored nowhere. */
export function hashWorkerToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export async function insertWorkerToken(tx: Writer, row: WorkerTokensTable): Promise<void> {
  await tx.insertInto('worker_tokens').values(row).execute();
}

const selectWorkerToken = prepareStatement((db, { id }: { id: string }) =>
  db
    .selectFrom('worker_tokens')
    .selectAll()
    .select((eb) => eb.ref('id').$castTo<KeyId>().as('key'))
    .where((eb) => eb(eb.ref('id').$castTo<string>(), '=', id)),
);

/** Returns the token of the id, which stands for that of a key in the caller; undefined without one. */
export async function findWorkerToken(
  db: Reader,
  id: string,
): Promise<(WorkerTokensTable & { key: KeyId }) | undefined> {
  const [token] = await selectWorkerToken(db, { id });
  return token;
}

/** Returns the newest token of the name that the server itself issued; undefined without one. */
export function findServerToken(
  db: Reader,
  { account, name }: { account: AccountId; name: string },
): Promise<WorkerTokensTable | undefined> {
  return db
    .selectFrom('worker_tokens')
    .selectAll()
    .where('account_id', '=', account)
    .where('name', '=', name)
    .where('created_by', '=', '')
    .where('serves_all_accounts', '=', 1)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst();
}

/** Lists the worker tokens of the account, newest first, with the number of their workers. */
export async function listWorkerTokens(
  db: Reader,
  account: AccountId,
): Promise<(WorkerTokensTable & { workers: number })[]> {
  const rows = await db
    .selectFrom('worker_tokens')
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('workers')
        .select((count) => count.fn.countAll().as('workers'))
        .whereRef('workers.token_id', '=', 'worker_tokens.id')
        .as('workers'),
    )
    .where('account_id', '=', account)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => ({ ...row, workers: Number(row.workers) }));
}

/**
 * Counts the registered workers of each token that members of the account created. The workers of the server's own tokens have the
 * limit of its provisioner.
 */
export async function countWorkersOfTokens(
  db: Reader,
  account: AccountId,
): Promise<{ id: WorkerTokenId; workers: number }[]> {
  const rows = await db
    .selectFrom('worker_tokens')
    .innerJoin('workers', 'workers.token_id', 'worker_tokens.id')
    .select((eb) => ['worker_tokens.id', eb.fn.countAll().as('workers')])
    .where('worker_tokens.account_id', '=', account)
    .where('worker_tokens.created_by', '<>', '')
    .groupBy('worker_tokens.id')
    .execute();
  return rows.map(({ id, workers }) => ({ id, workers: Number(workers) }));
}

/** Returns the ids of the applications that still exist, in the order of their ids. */
export async function listApplicationIds(db: Reader, uids: readonly string[]): Promise<ApplicationId[]> {
  if (uids.length === 0) return [];
  const query = db.selectFrom('applications').select('id').where('uid', 'in', uids).orderBy('id');
  return (await query.execute()).map(({ id }) => id);
}

export async function storeWorkerTokenUse(tx: Writer, id: WorkerTokenId, at: number): Promise<void> {
  await tx.updateTable('worker_tokens').set({ last_used_at: at }).where('id', '=', id).execute();
}

/** Deletes the token and its workers, whose runs are orphans then. Returns false when the account has no such token. */
export async function deleteWorkerToken(tx: Writer, account: AccountId, id: WorkerTokenId): Promise<boolean> {
  const result = await tx
    .deleteFrom('worker_tokens')
    .where('id', '=', id)
    .where('account_id', '=', account)
    .executeTakeFirst();
  if (result.numDeletedRows !== 1n) return false;
  await tx.deleteFrom('workers').where('token_id', '=', id).execute();
  await removeAllowedTokens(tx, [id]);
  return true;
}

/** Deletes the worker tokens of a deleted account, with their workers. */
export async function deleteAccountWorkerTokens(tx: Writer, account: AccountId): Promise<void> {
  const tokens = tx.selectFrom('worker_tokens').select('id').where('account_id', '=', account);
  await tx.deleteFrom('workers').where('token_id', 'in', tokens).execute();
  await removeAllowedTokens(
    tx,
    (await tokens.execute()).map(({ id }) => id),
  );
  await tx.deleteFrom('worker_tokens').where('account_id', '=', account).execute();
}
