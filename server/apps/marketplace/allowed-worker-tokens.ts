/**
 * The worker tokens of subscribers to which the publisher gives the program of an app. A remote worker receives the program of
 * its runs. Without a row here, the runs of a subscriber go to workers of the server alone.
 */
import type { AccountId, KeyId, WorkerTokenId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';

/** Lists the tokens of the app, in the order of their ids. */
export async function listAllowedTokens(db: Reader, subscriptionId: string): Promise<WorkerTokenId[]> {
  const rows = await db
    .selectFrom('allowed_worker_tokens')
    .select('worker_token_id')
    .where('subscription_id', '=', subscriptionId)
    .orderBy('worker_token_id')
    .execute();
  return rows.map((row) => row.worker_token_id);
}

/** The person who allows a token, and when. */
interface Allower {
  email: string;
  key: KeyId | null;
  at: number;
}

/** Replaces the tokens of the app; a token that was allowed before keeps its maker. The caller has locked the app. */
export async function replaceAllowedTokens(
  tx: Writer,
  subscriptionId: string,
  tokens: readonly WorkerTokenId[],
  { email: created_by, key: created_by_key, at: created_at }: Allower,
): Promise<void> {
  let removed = tx.deleteFrom('allowed_worker_tokens').where('subscription_id', '=', subscriptionId);
  if (tokens.length > 0) removed = removed.where('worker_token_id', 'not in', tokens);
  await removed.execute();
  const rows = tokens.map((id) => ({
    ...{ subscription_id: subscriptionId, worker_token_id: id },
    ...{ created_by, created_by_key, created_at },
  }));
  if (rows.length === 0) return;
  await tx
    .insertInto('allowed_worker_tokens')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Removes one token of one app. */
export async function removeAllowance(
  tx: Writer,
  row: { subscription_id: string; worker_token_id: WorkerTokenId },
): Promise<void> {
  await tx
    .deleteFrom('allowed_worker_tokens')
    .where('subscription_id', '=', row.subscription_id)
    .where('worker_token_id', '=', row.worker_token_id)
    .execute();
}

/** Removes the tokens from all apps. */
export async function removeAllowedTokens(tx: Writer, tokens: readonly WorkerTokenId[]): Promise<void> {
  if (tokens.length === 0) return;
  await tx.deleteFrom('allowed_worker_tokens').where('worker_token_id', 'in', tokens).execute();
}

/** A subscribed application of an account with worker tokens, and a token that its publisher allows; null for none. */
interface SubscribedApplication {
  uid: string;
  account_id: AccountId;
  allowed: WorkerTokenId | null;
}

/** Selects the subscribed applications of accounts that have worker tokens: few, and the same for every worker. */
export const selectSubscribedApplications = prepareStatement<Record<string, never>, SubscribedApplication>(
  (db) =>
    db
      .selectFrom('applications')
      .leftJoin(
        'allowed_worker_tokens',
        'allowed_worker_tokens.subscription_id',
        'applications.subscription_id',
      )
      .select([
        'applications.uid',
        'applications.account_id',
        'allowed_worker_tokens.worker_token_id as allowed',
      ])
      .where('applications.subscription_id', 'is not', null)
      .where('applications.account_id', 'in', (eb) =>
        eb.selectFrom('worker_tokens').select('worker_tokens.account_id'),
      ),
  { isReusable: true },
);
