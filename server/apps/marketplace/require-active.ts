/** Refuses runs of an application whose subscription has ended. */
import type { SubscriptionState } from '@switchyard/contract/marketplace/subscriptions.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { findSubscriptionState } from './subscription-store.ts';

const REASONS: Record<Exclude<SubscriptionState, 'active'>, string> = {
  retracted: 'its publisher has retracted the app. Runs are possible again when the publisher releases it',
  unsubscribed: 'the account has ended the subscription. Subscribe again to create runs',
  ended: 'its publisher has deleted the app, which no new subscription can change',
};

/**
 * Throws a 400 for the application of a subscription that is not active. The caller has locked the application, which every
 * change of the state locks too.
 */
export async function requireActiveSubscription(
  tx: Writer,
  { type, uid, id }: Pick<ApplicationsTable, 'type' | 'uid' | 'id'>,
): Promise<void> {
  if (type !== 'subscription') return;
  const state = (await findSubscriptionState(tx, uid)) ?? 'ended';
  if (state === 'active') return;
  throw badRequest(
    `The application ${quoteValue(id)} accepts no runs: ${REASONS[state]}. Finished runs stay readable.`,
  );
}
