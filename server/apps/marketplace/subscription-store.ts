/** Statements on subscriptions. */
import type { SubscriptionState } from '@switchyard/contract/marketplace/subscriptions.ts';
import type { AccountId, ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { isAfter } from '../../platform/database/list-order.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import type { SubscriptionsTable } from './schema.ts';

/** A subscription with the id of its application. `id` is its own id, under the name that lists need. */
export interface SubscriptionRow extends SubscriptionsTable {
  id: string;
  application_id: ApplicationId;
  application_name: string;
}

export async function insertSubscription(tx: Writer, subscription: SubscriptionsTable): Promise<void> {
  await tx.insertInto('subscriptions').values(subscription).execute();
}

/** Selects subscriptions whose application is not deleted, also those that the account has ended. */
function selectSubscriptions(db: Reader, account: AccountId) {
  return db
    .selectFrom('subscriptions')
    .innerJoin('applications', 'applications.uid', 'subscriptions.application_uid')
    .selectAll('subscriptions')
    .select(['subscriptions.subscription_id as id', 'applications.id as application_id'])
    .select('applications.name as application_name')
    .where('subscriptions.account_id', '=', account)
    .where('applications.deleted_at', 'is', null);
}

/** Returns the subscription of the account, also one that the account has ended. */
export function findSubscription(
  db: Reader,
  account: AccountId,
  id: string,
): Promise<SubscriptionRow | undefined> {
  return selectSubscriptions(db, account).where('subscriptions.subscription_id', '=', id).executeTakeFirst();
}

/** Lists the subscriptions that the account has not ended, newest first; one row more than the limit shows that more follow. */
export function listSubscriptions(
  db: Reader,
  account: AccountId,
  page: PageRequest,
): Promise<SubscriptionRow[]> {
  let query = selectSubscriptions(db, account)
    .where('subscriptions.state', '!=', 'unsubscribed')
    .orderBy('subscriptions.created_at', 'desc')
    .orderBy('subscriptions.subscription_id', 'desc');
  if (page.after) query = query.where(isAfter('subscriptions', page.after, 'subscription_id'));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/**
 * Locks the applications of all subscribers who have not ended their subscription until the transaction ends, so that no run
 * is created meanwhile, and returns them. Locks in the order of their uids, so that two transactions never wait for each other.
 */
export async function lockSubscribedApplications(tx: Writer, id: string): Promise<ApplicationsTable[]> {
  const query = tx
    .selectFrom('applications')
    .innerJoin('subscriptions', 'subscriptions.application_uid', 'applications.uid')
    .selectAll('applications')
    .where('subscriptions.subscription_id', '=', id)
    .where('subscriptions.state', '!=', 'unsubscribed')
    .where('applications.deleted_at', 'is', null)
    .orderBy('applications.uid');
  return locked(tx, query, 'update', 'applications').execute();
}

/** Stores what the partner has changed in all subscriptions that their accounts have not ended. */
export async function updateSubscriptions(
  tx: Writer,
  id: string,
  changes: Partial<Pick<SubscriptionsTable, 'state' | 'partner_name' | 'app_title'>>,
): Promise<void> {
  await tx
    .updateTable('subscriptions')
    .set(changes)
    .where('subscription_id', '=', id)
    .where('state', '!=', 'unsubscribed')
    .execute();
}

/** Stores the changes of one subscription. */
export async function updateSubscription(
  tx: Writer,
  applicationUid: string,
  changes: Partial<SubscriptionsTable>,
): Promise<void> {
  await tx.updateTable('subscriptions').set(changes).where('application_uid', '=', applicationUid).execute();
}

/** Returns the state of the subscription of an application; undefined for an application of another type. */
export async function findSubscriptionState(
  db: Reader,
  applicationUid: string,
): Promise<SubscriptionState | undefined> {
  const query = db.selectFrom('subscriptions').select('state').where('application_uid', '=', applicationUid);
  return (await query.executeTakeFirst())?.state;
}

/** Returns the subscription of an application; undefined for an application of another type. */
export function findSubscriptionOfApplication(
  tx: Writer,
  applicationUid: string,
): Promise<SubscriptionsTable | undefined> {
  return tx
    .selectFrom('subscriptions')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .executeTakeFirst();
}

/** Lists the subscriptions of the account that it has not ended. */
export function listOpenSubscriptions(tx: Writer, account: AccountId): Promise<SubscriptionsTable[]> {
  return tx
    .selectFrom('subscriptions')
    .selectAll()
    .where('account_id', '=', account)
    .where('state', '!=', 'unsubscribed')
    .execute();
}

/** Removes the subscription of a deleted application. */
export async function removeSubscription(tx: Writer, applicationUid: string): Promise<void> {
  await tx.deleteFrom('subscriptions').where('application_uid', '=', applicationUid).execute();
}
