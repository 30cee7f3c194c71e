/**
 * Tables of webhooks, events, deliveries and conversations. A delivery exists until it succeeds or its attempts are used up.
 * A conversation records one attempt. All deliveries and conversations of an event share one row with its body.
 */
import type {
  AccountId,
  ConversationId,
  EventId,
  KeyId,
  WebhookId,
} from '@switchyard/contract/schemas/ids.ts';
import type { ConversationStatus } from '@switchyard/contract/states.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

export interface WebhooksTable {
  /** Unique for ever; the id can be reused after a deletion. */
  uid: string;
  account_id: AccountId;
  id: WebhookId;
  /** A list in JSON. */
  event_types: string;
  endpoint_url: string;
  /** 1 when a caller on the machine of the server set the address, which can then be a loopback address. */
  given_locally: 0 | 1;
  description: string;
  /** Encrypted; see signature.ts. */
  secret: Uint8Array;
  previous_secret: Uint8Array | null;
  /** The previous secret signs too until this time. */
  previous_until: number | null;
  disabled_at: number | null;
  /** Address of the member who set up the webhook or its URL; empty when unknown. */
  created_by: string;
  /** The key with which they did; null when unknown. */
  created_by_key: KeyId | null;
  created_at: number;
  updated_at: number;
}

export interface WebhookEventsTable {
  id: EventId;
  /** The exact text of requests, which the signature covers. */
  body: string;
  created_at: number;
}

export interface WebhookDeliveriesTable {
  /** Increases with the time of creation. */
  id: string;
  webhook_uid: string;
  event_id: EventId;
  /** The number of attempts that have ended. */
  attempts: number;
  /** The fencing token: it grows with every claim, and a process with an older one cannot write. */
  fence: number;
  /** The time of the next attempt; during an attempt, the time when its claim expires. */
  next_at: number;
}

export interface WebhookConversationsTable {
  id: ConversationId;
  webhook_uid: string;
  event_id: EventId;
  attempt: number;
  status: ConversationStatus;
  /** 0 without a response. */
  http_status: number;
  response_duration: number;
  error: string;
  response_body: string;
  next_attempt_at: number | null;
  created_at: number;
}

export const createTables: Migration['up'] = (db, { bytes }) =>
  executeAll(db, [
    sql`create table webhooks (
      uid text primary key, account_id text not null, id text not null, event_types text not null,
      endpoint_url text not null, description text not null, secret ${bytes} not null, previous_secret ${bytes},
      previous_until bigint, disabled_at bigint, created_at bigint not null, updated_at bigint not null,
      given_locally integer not null default 0, created_by text not null default '', created_by_key text,
      constraint webhooks_by_id unique (account_id, id)
    )`,
    sql`create index webhooks_by_age on webhooks (account_id, created_at, id)`,
    sql`create table webhook_events (id text primary key, body text not null, created_at bigint not null)`,
    sql`create table webhook_deliveries (
      id text primary key, webhook_uid text not null, event_id text not null, attempts integer not null,
      fence integer not null, next_at bigint not null
    )`,
    sql`create index webhook_deliveries_due on webhook_deliveries (webhook_uid, next_at, id)`,
    sql`create index webhook_deliveries_next on webhook_deliveries (next_at)`,
    sql`create index webhook_deliveries_of_event on webhook_deliveries (event_id)`,
    sql`create table webhook_conversations (
      id text primary key, webhook_uid text not null, event_id text not null, attempt integer not null,
      status text not null, http_status integer not null, response_duration bigint not null,
      error text not null, response_body text not null, next_attempt_at bigint, created_at bigint not null
    )`,
    sql`create index webhook_conversations_by_age on webhook_conversations (webhook_uid, created_at, id)`,
    sql`create index webhook_conversations_by_status on webhook_conversations (webhook_uid, status, created_at, id)`,
    sql`create index webhook_conversations_old on webhook_conversations (created_at)`,
    sql`create index webhook_conversations_of_event on webhook_conversations (event_id)`,
  ]);
