/** Webhooks of the account. */
import type { Client } from '@switchyard/contract/client.ts';
import { toBody } from '@switchyard/contract/client.ts';
import { findOrNone } from '../../errors/find-or-none.ts';
import type { WebhookEntry } from '../file-schema.ts';
import type { Resource } from './resource.ts';

/** Returns the webhook of the file. */
export function describeWebhook(client: Client, id: string, entry: WebhookEntry): Resource {
  const params = { webhook_id: id };
  const { delete: isRemoved, ...wanted } = entry;
  let expected_updated_at: string | undefined;
  return {
    kind: 'webhook',
    id,
    isRemoved: isRemoved === true,
    read: () =>
      findOrNone(async () => {
        const { body } = await client.call('getWebhook', { params });
        expected_updated_at = body.updated_at;
        return {
          endpoint_url: body.endpoint_url,
          event_types: body.event_types.toSorted(),
          description: body.description,
        };
      }),
    merge: (current) => ({
      ...(current ?? { description: '' }),
      ...wanted,
      ...(wanted.event_types && { event_types: wanted.event_types.toSorted() }),
    }),
    create: async (fields) => {
      await client.call('createWebhook', { body: toBody('createWebhook', { id, ...fields }) });
    },
    update: async (fields) => {
      const body = toBody('updateWebhook', { ...fields, expected_updated_at });
      await client.call('updateWebhook', { params, body });
    },
    remove: async () => {
      await client.call('deleteWebhook', { params });
    },
  };
}
