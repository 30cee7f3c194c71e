/** Schemas of webhooks: the subscription, the event that it delivers, and the record of each attempt. */
import Type, { type Static } from 'typebox';
import {
  ENDPOINT_URL_CHARS_MAX,
  QUEUE_PROBLEM_IDS_MAX,
  SECRET_OVERLAP_HOURS_DEFAULT,
  SECRET_OVERLAP_HOURS_MAX,
  WEBHOOK_RESPONSE_BYTES_MAX,
} from '../limits.ts';
import { Run } from '../runs/run-schemas.ts';
import { conditionFields } from '../schemas/conditional-writes.ts';
import {
  descriptionSchema,
  optionalNullable,
  stringEnum,
  textSchema,
  timestampSchema,
} from '../schemas/field-schemas.ts';
import {
  type ConversationId,
  type EventId,
  idSchema,
  newIdSchema,
  type RunId,
  type WebhookId,
} from '../schemas/ids.ts';
import { ANNOUNCED_TYPES, CONVERSATION_STATUSES, EXPERIMENT_STATUSES } from '../states.ts';
import {
  EVENT_TYPE_DESCRIPTIONS,
  EVENT_TYPES,
  QUEUE_PROBLEM_DESCRIPTIONS,
  QUEUE_PROBLEM_KINDS,
} from './event-types.ts';

const eventType = stringEnum(
  EVENT_TYPES,
  EVENT_TYPES.map((type) => `${type}: ${EVENT_TYPE_DESCRIPTIONS[type]}`).join(' '),
);
const eventTypes = Type.Array(eventType, {
  minItems: 1,
  maxItems: EVENT_TYPES.length,
  uniqueItems: true,
  description: 'Event types that the webhook subscribes to.',
});

export const Webhook = Type.Object(
  {
    id: idSchema<WebhookId>('Id of the webhook.'),
    event_types: eventTypes,
    endpoint_url: Type.String({ description: 'URL that receives the events.' }),
    description: Type.String({ description: 'Description; empty by default.' }),
    created_at: timestampSchema('Creation time'),
    updated_at: timestampSchema('Time of the last change'),
    disabled_at: Type.Optional(
      timestampSchema(
        'Time at which deliveries stopped: the receiver responded 410 Gone, or the member or key that set up the webhook was removed; absent while the webhook is enabled',
      ),
    ),
  },
  { $id: 'Webhook', description: 'A subscription of a URL to events.' },
);
export type Webhook = Static<typeof Webhook>;

/** A webhook, and whether its receiver gets the events. */
export const WebhookWithDeliveries = Type.Object(
  {
    ...Webhook.properties,
    last_success_at: Type.Optional(timestampSchema('Start of the last attempt that succeeded')),
    failing_since: Type.Optional(
      timestampSchema('Start of the first failed attempt after it; absent while the last one succeeded'),
    ),
    last_error: Type.Optional(Type.String({ description: 'Why the last attempt failed.' })),
  },
  { $id: 'WebhookWithDeliveries', description: 'A webhook with the state of its deliveries.' },
);
export type WebhookWithDeliveries = Static<typeof WebhookWithDeliveries>;

const fields = {
  event_types: eventTypes,
  endpoint_url: textSchema(
    `An http or https URL, without user and password. Its host must resolve to a public address, or to one that the operator allows. The limit is ${ENDPOINT_URL_CHARS_MAX} characters.`,
    { min: 1, max: ENDPOINT_URL_CHARS_MAX },
  ),
  description: descriptionSchema('webhook'),
};

export const WebhookCreate = Type.Object(
  { id: newIdSchema<WebhookId>('webhook'), ...fields },
  { $id: 'WebhookCreate', additionalProperties: false, description: 'The webhook to create.' },
);
export type WebhookCreate = Static<typeof WebhookCreate>;

export const WebhookUpdate = Type.Object(
  {
    event_types: optionalNullable(eventTypes),
    endpoint_url: optionalNullable(fields.endpoint_url),
    description: optionalNullable(fields.description),
    ...conditionFields,
  },
  { $id: 'WebhookUpdate', description: 'The fields to change. Others may have their present values.' },
);
export type WebhookUpdate = Static<typeof WebhookUpdate>;

export const WebhookSecret = Type.Object(
  {
    id: idSchema<WebhookId>('Id of the webhook.'),
    secret: Type.String({
      description: 'Secret that signs the deliveries: `whsec_` and 32 bytes in Base64.',
    }),
    previous_until: Type.Optional(
      timestampSchema(
        'Time until which the previous secret also signs deliveries; absent when it no longer does',
      ),
    ),
  },
  { $id: 'WebhookSecret', description: 'The signing secret of a webhook.' },
);
export type WebhookSecret = Static<typeof WebhookSecret>;

export const SecretRotation = Type.Object(
  {
    overlap_hours: optionalNullable(
      Type.Integer({
        minimum: 0,
        maximum: SECRET_OVERLAP_HOURS_MAX,
        description: `Hours during which the old secret also signs deliveries: 0 to ${SECRET_OVERLAP_HOURS_MAX}. The default is ${SECRET_OVERLAP_HOURS_DEFAULT}.`,
      }),
    ),
  },
  {
    $id: 'SecretRotation',
    additionalProperties: false,
    description: 'Overlap of the old and the new secret.',
  },
);

const { input_id, options, request_options, options_summary, ...info } = Run.properties;

const { id, application_id, status, status_v2, ...rest } = info;

/** A run as in a list, without its options: which of them the receiver may see is unknown. */
export const RunInfo = Type.Object(
  { id, application_id, status, status_v2, ...Type.Partial(Type.Object(rest)).properties },
  {
    $id: 'RunInfo',
    description:
      'The run without its options. A run deleted before the delivery has only its ids and statuses.',
  },
);
export type RunInfo = Static<typeof RunInfo>;

/** An experiment at the time of an event. */
export const ExperimentInfo = Type.Object(
  {
    id: Type.String({ description: 'Id of the experiment.' }),
    application_id: Type.String({ description: 'Id of the application.' }),
    type: stringEnum(ANNOUNCED_TYPES, 'Type of the experiment.'),
    name: Type.String({ description: 'Name of the experiment.' }),
    description: Type.String({ description: 'Description; empty by default.' }),
    status: stringEnum(EXPERIMENT_STATUSES, 'The status after the change.'),
    user_email: Type.String({
      description: 'E-mail address of the creator; for an acceptance test, that of its batch experiment.',
    }),
    created_at: timestampSchema('Creation time'),
    updated_at: timestampSchema('Time of the change'),
    passed: Type.Optional(
      Type.Boolean({ description: 'True if the acceptance test passed; absent for other events.' }),
    ),
  },
  { $id: 'ExperimentInfo', description: 'The experiment at the time of the event.' },
);
export type ExperimentInfo = Static<typeof ExperimentInfo>;

/** A problem of the queue at the time of an event. */
export const QueueProblemInfo = Type.Object(
  {
    id: Type.String({ description: 'Id of the problem, the same when it begins and when it ends.' }),
    kind: stringEnum(
      QUEUE_PROBLEM_KINDS,
      `Kind of the problem. ${QUEUE_PROBLEM_KINDS.map((kind) => `${kind}: ${QUEUE_PROBLEM_DESCRIPTIONS[kind]}.`).join(' ')}`,
    ),
    status: stringEnum(['begun', 'ended'], 'The change that the event reports.'),
    message: Type.String({ description: 'The problem in a sentence, as it was at its begin.' }),
    remedy: Type.String({ description: 'The next step for an operator.' }),
    since: timestampSchema(
      'Start of the problem: the creation of the oldest waiting run, the last heartbeat, or the first check that found the faults',
    ),
    ended_at: Type.Optional(timestampSchema('End of the problem; absent when it begins')),
    count: Type.Integer({ description: 'Number of runs, or of workers, at the begin of the problem.' }),
    run_ids: Type.Array(idSchema<RunId>('Id of a run.'), {
      description: `The runs, oldest first, at most ${QUEUE_PROBLEM_IDS_MAX}.`,
    }),
    worker_ids: Type.Array(Type.String(), {
      description: `The lost workers, at most ${QUEUE_PROBLEM_IDS_MAX}.`,
    }),
    console_url: Type.String({ description: 'Page of the console that shows the queue or the workers.' }),
  },
  { $id: 'QueueProblemInfo', description: 'A problem of the queue, of a worker or of the host.' },
);
export type QueueProblemInfo = Static<typeof QueueProblemInfo>;

export const WebhookEvent = Type.Object(
  {
    event_type: eventType,
    api_version: Type.String({ description: 'Version of the API that `data` follows.' }),
    event_id: idSchema<EventId>('Id of the event, the same in every attempt to deliver it.'),
    created_at: timestampSchema('Time of the event'),
    sequence: Type.Integer({
      description:
        'Sequence number that increases with every event of the run, experiment or problem. Compare it to detect late deliveries.',
    }),
    data: Type.Union([RunInfo, ExperimentInfo, QueueProblemInfo], {
      description:
        'The run of a `run.status` event, the experiment of an `experiment.status` event, or the problem of a `queue.trouble` event.',
    }),
  },
  { $id: 'WebhookEvent', description: 'Body of a delivery.' },
);
export type WebhookEvent = Static<typeof WebhookEvent>;

export const Conversation = Type.Object(
  {
    id: idSchema<ConversationId>('Id of the conversation.'),
    webhook_id: idSchema<WebhookId>('Id of the webhook.'),
    event_id: idSchema<EventId>('Id of the delivered event.'),
    attempt: Type.Integer({ description: 'Number of the attempt to deliver the event, from 1.' }),
    created_at: timestampSchema('Start time of the attempt'),
    status: stringEnum(
      CONVERSATION_STATUSES,
      'succeeded: the receiver responded 2xx in time; timed_out: it did not respond in time; failed: it responded with another status, or the connection failed.',
    ),
    http_status: Type.Integer({ description: 'HTTP status of the response; 0 without a response.' }),
    response_duration: Type.Integer({ description: 'Milliseconds until the response or the failure.' }),
    error: Type.String({ description: 'Why the attempt did not succeed; empty when it did.' }),
    next_attempt_at: Type.Optional(
      timestampSchema('Planned time of the next attempt; absent for the last attempt'),
    ),
    request_body: WebhookEvent,
    response_body: Type.String({
      description: `The first ${WEBHOOK_RESPONSE_BYTES_MAX} bytes of the response body, as text.`,
    }),
  },
  { $id: 'WebhookConversation', description: 'One attempt to deliver an event.' },
);
export type Conversation = Static<typeof Conversation>;

export const EventTrigger = Type.Object(
  { event_type: eventType },
  {
    $id: 'EventTrigger',
    additionalProperties: false,
    description: 'The type of event to send an example of.',
  },
);

export const EventTriggered = Type.Object(
  {
    event_id: idSchema<EventId>('Id of the event.'),
    webhook_ids: Type.Array(idSchema<WebhookId>('Id of a webhook.'), {
      description: 'The webhooks that receive the event; empty when no webhook subscribes to its type.',
    }),
  },
  { $id: 'EventTriggered', description: 'The enqueued event.' },
);
