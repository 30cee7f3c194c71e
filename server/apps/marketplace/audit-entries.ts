/** Audit entries in the account on the other side of a subscription, where nobody made a request. */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { systemEntry } from '../../accounts/audit/entry.ts';
import { insertEntry } from '../../accounts/audit/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Writer } from '../../platform/database/database.ts';
import type { Random } from '../../platform/random.ts';
import type { SubscriptionsTable } from './schema.ts';

/** An event of the other side. The first two are for the partner, the others for subscribers. */
type SubscriptionEvent =
  | 'subscriberAdded'
  | 'subscriberRemoved'
  | 'subscribedVersionAdded'
  | 'subscriptionReleased'
  | 'subscriptionRetracted'
  | 'subscriptionEnded';

/** The services that an entry needs. */
export interface EntryParts {
  clock: Clock;
  random: Random;
}

/** Writes the entry into the audit log of the account. */
export async function insertSubscriptionEntry(
  tx: Writer,
  { clock, random }: EntryParts,
  event: SubscriptionEvent,
  { account, resource }: { account: AccountId; resource: Record<string, string> },
): Promise<void> {
  await insertEntry(tx, systemEntry({ random, now: clock.now() }, event, account, resource));
}

/** Writes the end of the subscription into the audit log of the partner. */
export async function reportEnd(
  tx: Writer,
  parts: EntryParts,
  { subscription_id, partner_id, account_id, state }: SubscriptionsTable,
): Promise<void> {
  // The partner may be gone.
  if (state === 'ended') return;
  const resource = { subscription_id, subscriber_id: account_id };
  await insertSubscriptionEntry(tx, parts, 'subscriberRemoved', { account: partner_id, resource });
}
