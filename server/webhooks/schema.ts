/**
 * Tables of webhooks, events, deliveries and conversations. A delivery exists until it succeeds or its attempts are used up.
 * A conversation records one attempt. All deliveries and conversations of an event share one row with its body.
 */
import type { AccountId, ConversationId, EventId, WebhookId } from '@switchyard/contract/schemas/ids.ts';
import type { ConversationStatus } from '@switchyard/contract/states.ts';
import type { Kysely } from 'kysely';
import type { Migration } from '../database/migrate.ts';

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

declare module '../database/database.ts' {
  interface Tables {
    webhooks: WebhooksTable;
    webhook_events: WebhookEventsTable;
    webhook_deliveries: WebhookDeliveriesTable;
    webhook_conversations: WebhookConversationsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0041-webhooks',
    async up(db, types) {
      await db.schema
        .createTable('webhooks')
        .addColumn('uid', 'text', (column) => column.primaryKey())
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('event_types', 'text', (column) => column.notNull())
        .addColumn('endpoint_url', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('secret', types.bytes, (column) => column.notNull())
        .addColumn('previous_secret', types.bytes)
        .addColumn('previous_until', 'bigint')
        .addColumn('disabled_at', 'bigint')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addUniqueConstraint('webhooks_by_id', ['account_id', 'id'])
        .execute();
      await db.schema
        .createIndex('webhooks_by_age')
        .on('webhooks')
        .columns(['account_id', 'created_at', 'id'])
        .execute();
      await db.schema
        .createTable('webhook_events')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('body', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('webhook_deliveries')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('webhook_uid', 'text', (column) => column.notNull())
        .addColumn('event_id', 'text', (column) => column.notNull())
        .addColumn('attempts', 'integer', (column) => column.notNull())
        .addColumn('fence', 'integer', (column) => column.notNull())
        .addColumn('next_at', 'bigint', (column) => column.notNull())
        .execute();
      for (const [name, columns] of [
        ['webhook_deliveries_due', ['webhook_uid', 'next_at', 'id']],
        ['webhook_deliveries_next', ['next_at']],
        ['webhook_deliveries_of_event', ['event_id']],
      ] as const)
        await db.schema
          .createIndex(name)
          .on('webhook_deliveries')
          .columns([...columns])
          .execute();
      await createConversations(db);
    },
  },
  {
    // It is unknown who set existing addresses, so loopback addresses are refused until a caller sets them again.
    name: '0053-webhooks-given-locally',
    async up(db) {
      await db.schema
        .alterTable('webhooks')
        .addColumn('given_locally', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
];

async function createConversations(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('webhook_conversations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('webhook_uid', 'text', (column) => column.notNull())
    .addColumn('event_id', 'text', (column) => column.notNull())
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('http_status', 'integer', (column) => column.notNull())
    .addColumn('response_duration', 'bigint', (column) => column.notNull())
    .addColumn('error', 'text', (column) => column.notNull())
    .addColumn('response_body', 'text', (column) => column.notNull())
    .addColumn('next_attempt_at', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  for (const [name, columns] of [
    ['webhook_conversations_by_age', ['webhook_uid', 'created_at', 'id']],
    ['webhook_conversations_by_status', ['webhook_uid', 'status', 'created_at', 'id']],
    ['webhook_conversations_old', ['created_at']],
    ['webhook_conversations_of_event', ['event_id']],
  ] as const)
    await db.schema
      .createIndex(name)
      .on('webhook_conversations')
      .columns([...columns])
      .execute();
}
