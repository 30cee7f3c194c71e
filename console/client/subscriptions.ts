/** The subscriptions of the account to apps of the marketplace. */
import type { Subscription } from '@switchyard/contract/marketplace/subscriptions.ts';
import { queryOptions } from '@tanstack/react-query';
import { client, isNotFound } from './client.ts';
import { pagedQuery } from './paged-query.ts';
import { queryClient } from './queries.ts';

/** The subscriptions of the account, newest first, by pages. */
export const subscriptionsQuery = pagedQuery<Subscription>(
  ['listSubscriptions'],
  async (query, signal) => (await client.call('listSubscriptions', { query, signal })).body,
);

/** One subscription; null after the account has ended it. */
export const subscriptionQuery = (subscription: string) =>
  queryOptions({
    queryKey: ['getSubscription', subscription],
    queryFn: async ({ signal }): Promise<Subscription | null> => {
      const params = { subscription_id: subscription };
      try {
        return (await client.call('getSubscription', { params, signal })).body;
      } catch (error) {
        if (isNotFound(error)) return null;
        throw error;
      }
    },
  });

/** Reads again everything that shows subscriptions. */
export async function refreshSubscriptions(): Promise<void> {
  await Promise.all(
    ['listSubscriptions', 'getSubscription', 'listApplications', 'getApplication'].map((id) =>
      queryClient.invalidateQueries({ queryKey: [id] }),
    ),
  );
}
