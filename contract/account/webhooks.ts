/** The operations on webhooks and their conversations. */
import Type from 'typebox';
import { CONVERSATION_RETENTION_DAYS, SECRET_OVERLAP_HOURS_DEFAULT } from '../limits.ts';
import { defineOperation } from '../operation.ts';
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
    'Has an address told of what happens to the runs of the account from now on, by a signed POST. The secret it is signed with is made here and read by itself.',
  right: 'write',
  body: { schema: WebhookCreate, example: create },
  responses: { 201: { description: 'The webhook.', schema: Webhook, example } },
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
  responses: {
    200: { description: 'The webhooks, newest first.', schema: pageOrArray(Webhook), example: [example] },
  },
});

export const getWebhook = defineOperation({
  id: 'getWebhook',
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}',
  tag: 'webhooks',
  summary: 'Get a webhook',
  description: 'Answers the webhook, and whether its receiver has had it disabled.',
  right: 'read',
  params: WebhookParams,
  responses: { 200: { description: 'The webhook.', schema: Webhook, example } },
  errors: [404],
});

export const updateWebhook = defineOperation({
  id: 'updateWebhook',
  method: 'PUT',
  path: '/v1/webhooks/{webhook_id}',
  tag: 'webhooks',
  summary: 'Update a webhook',
  description:
    'Changes the address, the events and the description; what is absent stays as it is. Every change enables a webhook that its receiver has disabled. Attempts that begin after it go to the new address.',
  right: 'write',
  params: WebhookParams,
  body: { schema: WebhookUpdate, example: { endpoint_url: 'https://dispatch.example.com/hooks/plans' } },
  responses: { 204: { description: 'It is changed.' } },
  errors: [404],
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
      ['Events that it was still to be told of', 'Are not sent any more, but for attempts under way.'],
      ['Its conversations', 'Are removed.'],
      ['Other webhooks', 'Are told as before.'],
    ],
    'The id can be taken again.',
  ),
  right: 'write',
  params: WebhookParams,
  responses: { 204: { description: 'It is gone.' } },
  errors: [404],
});

export const getWebhookSecret = defineOperation({
  id: 'getWebhookSecret',
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}/secret',
  tag: 'webhooks',
  summary: 'Get the secret of a webhook',
  description: 'Answers the secret that deliveries are signed with, for the receiver to check them by.',
  right: 'read-secrets',
  params: WebhookParams,
  responses: { 200: { description: 'The secret.', schema: WebhookSecret, example: secretExample } },
  errors: [404],
});

export const rotateWebhookSecret = defineOperation({
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: '/v1/webhooks/{webhook_id}/secret',
  tag: 'webhooks',
  summary: 'Replace the secret of a webhook',
  description: `Makes a new secret. For a while, ${SECRET_OVERLAP_HOURS_DEFAULT} hours when nothing is said, deliveries are signed with the old one, too, so that the receiver can change over without losing any.`,
  right: 'write',
  params: WebhookParams,
  body: { schema: SecretRotation, example: { overlap_hours: 24 }, required: false },
  responses: {
    201: {
      description: 'The new secret.',
      schema: WebhookSecret,
      example: { ...secretExample, previous_until: '2026-11-21T08:00:00.000Z' },
    },
  },
  errors: [404],
});

export const listWebhookConversations = defineOperation({
  id: 'listWebhookConversations',
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}/conversations',
  tag: 'webhooks',
  summary: 'List conversations',
  description: `Lists the attempts to deliver events to the webhook, a page at a time. They are kept for ${CONVERSATION_RETENTION_DAYS} days.`,
  right: 'read',
  params: WebhookParams,
  query: Type.Object({
    ...PageQuery,
    status: Type.Optional(stringEnum(CONVERSATION_STATUSES, 'Only conversations with this status.')),
  }),
  responses: {
    200: {
      description: 'The conversations, newest first.',
      schema: itemsPage(Conversation),
      example: { items: [conversationExample] },
    },
  },
  errors: [404],
});

export const getWebhookConversation = defineOperation({
  id: 'getWebhookConversation',
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}/conversations/{conversation_id}',
  tag: 'webhooks',
  summary: 'Get a conversation',
  description: 'Answers one attempt to deliver an event: what was sent, and what came back.',
  right: 'read',
  params: ConversationParams,
  responses: {
    200: { description: 'The conversation.', schema: Conversation, example: conversationExample },
  },
  errors: [404],
});

export const replayWebhookConversation = defineOperation({
  id: 'replayWebhookConversation',
  method: 'POST',
  path: '/v1/webhooks/{webhook_id}/conversations/{conversation_id}/replay',
  tag: 'webhooks',
  summary: 'Deliver the event of a conversation again',
  description:
    'Sends the same event once more, with the same id and body and a new signature, and tries as often as for a new one. 400 for a webhook that is disabled.',
  right: 'write',
  params: ConversationParams,
  responses: {
    202: {
      description: 'It will be sent; its attempts are conversations of their own.',
      schema: EventTriggered,
      example: { event_id: 'event-01jd3v7k9mq2z5x8', webhook_ids: ['dispatch-desk'] },
    },
  },
  errors: [400, 404],
});

export const triggerEvent = defineOperation({
  id: 'triggerEvent',
  method: 'POST',
  path: '/v1/events/trigger',
  tag: 'webhooks',
  summary: 'Send an example of an event',
  description:
    'Sends a made-up event to every webhook of the account that is told of its kind, so that a receiver can be tried without a run. The run in it does not exist: its id is `run-example`.',
  right: 'write',
  body: { schema: EventTrigger, example: { event_type: 'run.status' } },
  responses: {
    201: {
      description: 'It will be sent.',
      schema: EventTriggered,
      example: { event_id: 'event-01jd3v7k9mq2z5x8', webhook_ids: ['dispatch-desk'] },
    },
  },
});
