import type { Conversation, Webhook } from '@switchyard/contract/account/webhook-schemas.ts';
import type { ConversationStatus } from '@switchyard/contract/states.ts';
import { client } from '../../client/client.ts';
import { pagedQuery } from '../../client/paged-query.ts';
import { operationQuery, queryClient } from '../../client/queries.ts';

/** Deliveries are read again this often: a test event arrives within seconds. */
const DELIVERIES_REFETCH_MS = 3_000;

/** The webhooks of the account, newest first, by pages. */
export const webhooksQuery = pagedQuery<Webhook>(
  ['listWebhooks'],
  async (query, signal) => (await client.call('listWebhooks', { query, signal })).body,
);

/** One webhook and whether its events arrive. Its receiver can disable it. */
export const webhookQuery = (webhook: string) => ({
  ...operationQuery('getWebhook', { params: { webhook_id: webhook } }),
  refetchInterval: DELIVERIES_REFETCH_MS,
});

/** The attempts to deliver events to the webhook, newest first, by pages. */
export const deliveriesQuery = (webhook: string, status: ConversationStatus | undefined) => ({
  ...pagedQuery<Conversation>(
    ['listWebhookConversations', webhook, status],
    async ({ pagetoken }, signal) => {
      const { body } = await client.call('listWebhookConversations', {
        params: { webhook_id: webhook },
        query: { ...(pagetoken !== undefined && { pagetoken }), ...(status && { status }) },
        signal,
      });
      return body;
    },
  ),
  refetchInterval: DELIVERIES_REFETCH_MS,
});

/** Reads the webhooks again after a change. */
export async function refreshWebhooks(): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['listWebhooks'] }),
    queryClient.invalidateQueries({ queryKey: ['getWebhook'] }),
  ]);
}

/** Reads the deliveries again after one was requested. */
export async function refreshDeliveries(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['listWebhookConversations'] });
}
