/** Response bodies of webhooks and their conversations. */
import {
  type Conversation,
  type Webhook,
  WebhookEvent,
  type WebhookSecret,
} from '@switchyard/contract/account/webhook-schemas.ts';
import type { EventId, WebhookId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import type { WebhooksTable } from './schema.ts';
import { type ConversationWithBody, parseEventTypes } from './store.ts';

/** Formats the webhook without its secret. */
export function formatWebhook(row: WebhooksTable): Webhook {
  return {
    id: row.id,
    event_types: parseEventTypes(row),
    endpoint_url: row.endpoint_url,
    description: row.description,
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
    ...(row.disabled_at === null ? {} : { disabled_at: formatRfc3339(row.disabled_at) }),
  };
}

/** Formats the secret of a webhook; `now` in milliseconds decides whether the previous one still signs. */
export function formatSecret(
  { id, previous_until }: WebhooksTable,
  secret: string,
  now: number,
): WebhookSecret {
  const overlaps = previous_until !== null && previous_until > now;
  return { id, secret, ...(overlaps ? { previous_until: formatRfc3339(previous_until) } : {}) };
}

const parseEventBody = parseColumn('webhook_events', 'event_id', 'body', WebhookEvent);

/** Formats one attempt to deliver an event, with request and response. */
export function formatConversation(webhook: WebhooksTable, row: ConversationWithBody): Conversation {
  return {
    id: row.id,
    webhook_id: webhook.id,
    event_id: row.event_id,
    attempt: row.attempt,
    created_at: formatRfc3339(row.created_at),
    status: row.status,
    http_status: row.http_status,
    response_duration: row.response_duration,
    error: row.error,
    ...(row.next_attempt_at === null ? {} : { next_attempt_at: formatRfc3339(row.next_attempt_at) }),
    request_body: parseEventBody(row),
    response_body: row.response_body,
  };
}

/** Formats an event and the webhooks that receive it. */
export function formatEvent(
  event_id: EventId,
  webhooks: readonly WebhooksTable[],
): { event_id: EventId; webhook_ids: WebhookId[] } {
  return { event_id, webhook_ids: webhooks.map((webhook) => webhook.id) };
}
