import type { Subscription } from '@switchyard/contract/marketplace/subscriptions.ts';
import { useQuery } from '@tanstack/react-query';
import { subscriptionQuery } from '../../client/subscriptions.ts';
import styles from './subscription-badge.module.css';

/** Marks the application of a subscription with the name of its publisher, or with the end of the subscription. */
export function SubscriptionBadge({ subscription }: { subscription: string }) {
  const { data } = useQuery(subscriptionQuery(subscription));
  return <span className={styles.badge}>{describeSubscription(data)}</span>;
}

/** Returns the text of the badge. The subscription is undefined while it loads, and null after the account ended it. */
function describeSubscription(subscription: Subscription | null | undefined): string {
  if (subscription === undefined) return 'Subscription';
  if (subscription === null) return 'Subscription ended';
  if (subscription.state === 'retracted') return `Retracted by ${subscription.partner_name}`;
  if (subscription.state === 'ended') return 'Deleted by its publisher';
  return `Subscription from ${subscription.partner_name}`;
}
