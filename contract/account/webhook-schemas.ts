/** What webhooks look like from outside: the address that is told, what it is told, and what it answered. */
import Type, { type Static } from 'typebox';
import {
  ENDPOINT_URL_CHARS_MAX,
  SECRET_OVERLAP_HOURS_DEFAULT,
  SECRET_OVERLAP_HOURS_MAX,
  WEBHOOK_RESPONSE_BYTES_MAX,
} from '../limits.ts';
import { Run } from '../runs/run-schemas.ts';
import { description, optionalNullable, stringEnum, text, timestamp } from '../schemas/field-schemas.ts';
import { type ConversationId, type EventId, idSchema, newIdSchema, type WebhookId } from '../schemas/ids.ts';
import { CONVERSATION_STATUSES } from '../states.ts';

/** What a webhook can be told of. */
const EVENT_TYPES = ['run.status'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

const eventType = stringEnum(EVENT_TYPES, 'run.status: the status of a run has changed.');
const eventTypes = Type.Array(eventType, {
  minItems: 1,
  maxItems: EVENT_TYPES.length,
  description: 'What the address is told of.',
});

export const Webhook = Type.Object(
  {
    id: idSchema<WebhookId>('Id of the webhook.'),
    event_types: eventTypes,
    endpoint_url: Type.String({ description: 'The address that is told.' }),
    description: Type.String({ description: 'Description, empty when none was given.' }),
    created_at: timestamp('When it was made'),
    updated_at: timestamp('When it was last changed'),
    disabled_at: Type.Optional(
      timestamp(
        'Since when nothing is sent, because the receiver answered 410 Gone; absent while it is told',
      ),
    ),
  },
  { $id: 'Webhook', description: 'An address that is told of events.' },
);
export type Webhook = Static<typeof Webhook>;

const fields = {
  event_types: eventTypes,
  endpoint_url: text(
    `An http or https URL, without user and password. What it resolves to must be a public address, or one that the operator allows. At most ${ENDPOINT_URL_CHARS_MAX} characters.`,
    { min: 1, max: ENDPOINT_URL_CHARS_MAX },
  ),
  description: description('webhook'),
};

export const WebhookCreate = Type.Object(
  { id: newIdSchema<WebhookId>('webhook'), ...fields },
  { $id: 'WebhookCreate', additionalProperties: false, description: 'The webhook to make.' },
);
export type WebhookCreate = Static<typeof WebhookCreate>;

export const WebhookUpdate = Type.Object(
  {
    event_types: optionalNullable(eventTypes),
    endpoint_url: optionalNullable(fields.endpoint_url),
    description: optionalNullable(fields.description),
  },
  { $id: 'WebhookUpdate', description: 'What can be changed; other fields are ignored.' },
);
export type WebhookUpdate = Static<typeof WebhookUpdate>;

export const WebhookSecret = Type.Object(
  {
    id: idSchema<WebhookId>('Id of the webhook.'),
    secret: Type.String({
      description: 'What its deliveries are signed with: `whsec_` and 32 bytes in Base64.',
    }),
    previous_until: Type.Optional(
      timestamp('Until when the secret before this one signs, too; absent when it does not'),
    ),
  },
  { $id: 'WebhookSecret', description: 'The signing secret.' },
);
export type WebhookSecret = Static<typeof WebhookSecret>;

export const SecretRotation = Type.Object(
  {
    overlap_hours: optionalNullable(
      Type.Integer({
        minimum: 0,
        maximum: SECRET_OVERLAP_HOURS_MAX,
        description: `For how many hours deliveries are signed with the old secret, too: 0 to ${SECRET_OVERLAP_HOURS_MAX}, ${SECRET_OVERLAP_HOURS_DEFAULT} when nothing is said.`,
      }),
    ),
  },
  { $id: 'SecretRotation', additionalProperties: false, description: 'How the old secret ends.' },
);

const { input_id, options, request_options, options_summary, ...info } = Run.properties;

const { id, application_id, status, status_v2, ...rest } = info;

/** A run in a list but for its options: who may see those is not known of a receiver. */
export const RunInfo = Type.Object(
  { id, application_id, status, status_v2, ...Type.Partial(Type.Object(rest)).properties },
  {
    $id: 'RunInfo',
    description:
      'A run as it is told of: without its options, and with nothing but its ids and statuses when it was deleted meanwhile.',
  },
);
export type RunInfo = Static<typeof RunInfo>;

export const WebhookEvent = Type.Object(
  {
    event_type: eventType,
    api_version: Type.String({ description: 'Version of the API that `data` follows.' }),
    event_id: idSchema<EventId>('Id of the event, the same in every attempt to deliver it.'),
    created_at: timestamp('When it happened'),
    sequence: Type.Integer({
      description:
        'Greater than in every earlier event of the same run, so that one that comes late is known.',
    }),
    data: RunInfo,
  },
  { $id: 'WebhookEvent', description: 'The body that is sent to the address.' },
);
export type WebhookEvent = Static<typeof WebhookEvent>;

export const Conversation = Type.Object(
  {
    id: idSchema<ConversationId>('Id of the conversation.'),
    webhook_id: idSchema<WebhookId>('Its webhook.'),
    event_id: idSchema<EventId>('The event that it was to deliver.'),
    attempt: Type.Integer({ description: 'Which attempt to deliver the event it was, from 1.' }),
    created_at: timestamp('When it began'),
    status: stringEnum(
      CONVERSATION_STATUSES,
      'succeeded: the receiver answered 2xx in time; timed_out: it did not answer in time; failed: it answered something else, or could not be reached.',
    ),
    http_status: Type.Integer({ description: 'What the receiver answered; 0 for no answer.' }),
    response_duration: Type.Integer({ description: 'Milliseconds until it had answered, or failed to.' }),
    error: Type.String({ description: 'Why it is not succeeded, else empty.' }),
    next_attempt_at: Type.Optional(
      timestamp('When this attempt planned the next one; absent when it is the last'),
    ),
    request_body: WebhookEvent,
    response_body: Type.String({
      description: `The first ${WEBHOOK_RESPONSE_BYTES_MAX} bytes of what it answered, as text.`,
    }),
  },
  { $id: 'WebhookConversation', description: 'One attempt to deliver an event.' },
);
export type Conversation = Static<typeof Conversation>;

export const EventTrigger = Type.Object(
  { event_type: eventType },
  { $id: 'EventTrigger', additionalProperties: false, description: 'The event to send an example of.' },
);

export const EventTriggered = Type.Object(
  {
    event_id: idSchema<EventId>('Id of the event.'),
    webhook_ids: Type.Array(idSchema<WebhookId>('Id of a webhook.'), {
      description: 'The webhooks that it is sent to: none when nobody is to be told of such events.',
    }),
  },
  { $id: 'EventTriggered', description: 'An event that is being sent.' },
);
