/** The operations on webhooks and their conversations. */
import Type from 'typebox';
import { CONVERSATION_RETENTION_DAYS, SECRET_OVERLAP_HOURS_DEFAULT } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import { stringEnum } from '../schemas/field-schemas.ts';
import { type ConversationId, idSchema, type WebhookId } from '../schemas/ids.ts';
import { itemsPage, PageQuery, pageOrArray } from '../schemas/paging.ts';
import { CONVERSATION_STATUSES } from '../states.ts';
import {
  Conversation,
  EventTrigger,
  EventTriggered,
  SecretRotation,
  Webhook,
  WebhookCreate,
  WebhookSecret,
  WebhookUpdate,
  WebhookWithDeliveries,
} from './webhook-schemas.ts';

const WebhookParams = Type.Object({ webhook_id: idSchema<WebhookId>('Id of the webhook.') });
const ConversationParams = Type.Object({
  ...WebhookParams.properties,
  conversation_id: idSchema<ConversationId>('Id of the conversation.'),
});

const create = {
  id: 'dispatch-desk',
  event_types: ['run.status'],
  endpoint_url: 'https://dispatch.example.com/hooks/switchyard',
  description: 'Tells the dispatch desk of new plans',
};
const example = {
  ...create,
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
};
const secretExample = {
  id: 'dispatch-desk',
  secret: 'whsec_bm90IGEgcmVhbCBzZWNyZXQsIGJ1dCBhcyBsb25nIGE=',
};
const conversationExample = {
  id: 'talk-01jd3v7k9mq2z5x8',
  webhook_id: 'dispatch-desk',
  event_id: 'event-01jd3v7k9mq2z5x8',
  attempt: 1,
  created_at: '2026-11-20T08:00:04.212Z',
  status: 'succeeded',
  http_status: 200,
  response_duration: 41,
  error: '',
  request_body: {
    event_type: 'run.status',
    api_version: '1.7.0',
    event_id: 'event-01jd3v7k9mq2z5x8',
    created_at: '2026-11-20T08:00:04.180Z',
    sequence: 3127,
    data: {
      id: 'run-01jd3v7k9mq2z5x8',
      user_email: 'ada@example.com',
      name: '',
      description: '',
      status: 'succeeded',
      status_v2: 'succeeded',
      created_at: '2026-11-20T08:00:01.020Z',
      application_id: 'routing',
      application_instance_id: 'production',
      application_version_id: 'v1',
      run_type: { type: 'standard', definition_id: null, reference_id: null },
      execution_class: '6c9500mb870s',
      runtime: 'node',
      queuing_priority: 6,
      queuing_disabled: false,
      statistics: {
        status: 'success',
        error: '',
        indicators: [{ name: 'result.value', value: 784 }],
      },
    },
  },
  response_body: 'ok',
};

export const createWebhook = defineOperation({
  id: 'createWebhook',
  method: 'POST',
  path: '/v1/webhooks',
  tag: 'webhooks',
  summary: 'Create a webhook',
  description:
    'Subscribes a URL to future events of the account: status changes of runs, of experiments, or of both. Each delivery is a signed POST. The server generates the signing secret; read it with `getWebhookSecret`.',
  right: 'write',
  body: { schema: WebhookCreate, example: create },
  responses: respond(201, 'The webhook.', Webhook, example),
});

export const listWebhooks = defineOperation({
  id: 'listWebhooks',
  method: 'GET',
  path: '/v1/webhooks',
  tag: 'webhooks',
  summary: 'List webhooks',
  description: 'Lists the webhooks of the account.',
  right: 'read',
  query: Type.Object(PageQuery),
  responses: respond(200, 'The webhooks, newest first.', pageOrArray(Webhook), [example]),
});

export const getWebhook = defineOperation({
  id: 'getWebhook',
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}',
  tag: 'webhooks',
  summary: 'Get a webhook',
  description:
    'Returns the webhook, and since when its deliveries fail. `disabled_at` is present while it is disabled.',
  right: 'read',
  params: WebhookParams,
  responses: respond(200, 'The webhook.', WebhookWithDeliveries, {
    ...{ ...example, last_success_at: example.updated_at },
  }),
});

export const updateWebhook = defineOperation({
  id: 'updateWebhook',
  method: 'PUT',
  path: '/v1/webhooks/{webhook_id}',
  tag: 'webhooks',
  summary: 'Update a webhook',
  description:
    'Changes the URL, the events and the description; absent fields stay unchanged. Every change enables a disabled webhook. Attempts that start after the change go to the new URL.',
  right: 'write',
  params: WebhookParams,
  body: { schema: WebhookUpdate, example: { endpoint_url: 'https://dispatch.example.com/hooks/plans' } },
  responses: { 204: { description: 'The webhook is updated.' } },
});

export const deleteWebhook = defineOperation({
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/v1/webhooks/{webhook_id}',
  tag: 'webhooks',
  summary: 'Delete a webhook',
  description: describeDeletion(
    'Deletes the webhook with its secret.',
    [
      ['Pending deliveries', 'Dropped, except for attempts in progress.'],
      ['Conversations', 'Deleted.'],
      ['Other webhooks', 'Unaffected.'],
    ],
    'You can reuse the id.',
  ),
  right: 'write',
  params: WebhookParams,
  responses: { 204: { description: 'The webhook is deleted.' } },
});

export const getWebhookSecret = defineOperation({
  id: 'getWebhookSecret',
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}/secret',
  tag: 'webhooks',
  summary: 'Get the secret of a webhook',
  description: 'Returns the secret that signs the deliveries. The receiver verifies signatures with it.',
  right: 'read-secrets',
  params: WebhookParams,
  responses: respond(200, 'The secret.', WebhookSecret, secretExample),
});

export const rotateWebhookSecret = defineOperation({
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: '/v1/webhooks/{webhook_id}/secret',
  tag: 'webhooks',
  summary: 'Rotate the secret of a webhook',
  description: `Generates a new secret. For a limited time, ${SECRET_OVERLAP_HOURS_DEFAULT} hours by default, the old secret also signs every delivery. The receiver can therefore switch without losing a delivery.`,
  right: 'write',
  params: WebhookParams,
  body: { schema: SecretRotation, example: { overlap_hours: 24 }, required: false },
  responses: respond(201, 'The new secret.', WebhookSecret, {
    ...secretExample,
    previous_until: '2026-11-21T08:00:00.000Z',
  }),
});

export const listWebhookConversations = defineOperation({
  id: 'listWebhookConversations',
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}/conversations',
  tag: 'webhooks',
  summary: 'List conversations',
  description: `Lists the attempts to deliver events to the webhook, in pages. The server stores them for ${CONVERSATION_RETENTION_DAYS} days.`,
  right: 'read',
  params: WebhookParams,
  query: Type.Object({
    ...PageQuery,
    status: Type.Optional(stringEnum(CONVERSATION_STATUSES, 'Only conversations with this status.')),
  }),
  responses: respond(200, 'The conversations, newest first.', itemsPage(Conversation), {
    items: [conversationExample],
  }),
});

export const getWebhookConversation = defineOperation({
  id: 'getWebhookConversation',
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}/conversations/{conversation_id}',
  tag: 'webhooks',
  summary: 'Get a conversation',
  description: 'Returns one attempt to deliver an event, with the request and the response.',
  right: 'read',
  params: ConversationParams,
  responses: respond(200, 'The conversation.', Conversation, conversationExample),
});

export const replayWebhookConversation = defineOperation({
  id: 'replayWebhookConversation',
  method: 'POST',
  path: '/v1/webhooks/{webhook_id}/conversations/{conversation_id}/replay',
  tag: 'webhooks',
  summary: 'Redeliver an event',
  description:
    'Sends the event of a conversation again, with the same id and body and a new signature. The retry policy is that of a new event. A disabled webhook returns 400.',
  right: 'write',
  params: ConversationParams,
  responses: respond(
    202,
    'The delivery is enqueued. Each attempt is a conversation of its own.',
    EventTriggered,
    { event_id: 'event-01jd3v7k9mq2z5x8', webhook_ids: ['dispatch-desk'] },
  ),
});

export const triggerEvent = defineOperation({
  id: 'triggerEvent',
  method: 'POST',
  path: '/v1/events/trigger',
  tag: 'webhooks',
  summary: 'Send a test event',
  description:
    'Sends an example event to every webhook that subscribes to its type, so that you can test a receiver without a run. Its run or experiment does not exist and has the id `run-example` or `experiment-example`.',
  right: 'write',
  body: { schema: EventTrigger, example: { event_type: 'run.status' } },
  responses: respond(201, 'The event is enqueued.', EventTriggered, {
    event_id: 'event-01jd3v7k9mq2z5x8',
    webhook_ids: ['dispatch-desk'],
  }),
});
