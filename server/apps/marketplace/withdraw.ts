/**
 * Ends publications and subscriptions with the application or the account that they belong to. Subscribers keep their
 * applications and runs.
 */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Writer } from '../../platform/database/database.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { type EntryParts, insertSubscriptionEntry, reportEnd } from './audit-entries.ts';
import type { MarketplaceAppsTable } from './schema.ts';
import { listPublishedApps, lockMarketplaceApp, removeMarketplaceApp } from './store.ts';
import {
  findSubscriptionOfApplication,
  listOpenSubscriptions,
  lockSubscribedApplications,
  updateSubscription,
  updateSubscriptions,
} from './subscription-store.ts';

/** Ends the publication of a deleted application, or its subscription. The caller has locked the application. */
export async function withdrawApplication(
  tx: Writer,
  parts: EntryParts,
  { uid, type }: ApplicationsTable,
): Promise<void> {
  for (const app of await listPublishedApps(tx, { applicationUid: uid })) await withdrawApp(tx, parts, app);
  if (type !== 'subscription') return;
  const subscription = await findSubscriptionOfApplication(tx, uid);
  if (!subscription || subscription.state === 'unsubscribed') return;
  await updateSubscription(tx, uid, { state: 'unsubscribed' });
  await reportEnd(tx, parts, subscription);
}

/** Ends the publications and the subscriptions of a deleted account. */
export async function withdrawAccount(tx: Writer, parts: EntryParts, account: AccountId): Promise<void> {
  for (const app of await listPublishedApps(tx, { partner: account })) await withdrawApp(tx, parts, app);
  for (const subscription of await listOpenSubscriptions(tx, account))
    await reportEnd(tx, parts, subscription);
}

async function withdrawApp(tx: Writer, parts: EntryParts, { subscription_id }: MarketplaceAppsTable) {
  await lockMarketplaceApp(tx, subscription_id, 'update');
  const applications = await lockSubscribedApplications(tx, subscription_id);
  await updateSubscriptions(tx, subscription_id, { state: 'ended' });
  await removeMarketplaceApp(tx, subscription_id);
  for (const { account_id, id } of applications) {
    const resource = { subscription_id, application_id: id };
    await insertSubscriptionEntry(tx, parts, 'subscriptionEnded', { account: account_id, resource });
  }
}
