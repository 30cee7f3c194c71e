/**
 * Webhooks, what they are to be told, and what came of it. A delivery is there until it has succeeded or is given up; a
 * conversation is one attempt. The body of an event is kept once, however many webhooks are told of it and how often.
 */
import type { AccountId, ConversationId, EventId, WebhookId } from '@switchyard/contract/schemas/ids.ts';
import type { ConversationStatus } from '@switchyard/contract/states.ts';
import type { Migration } from '../database/migrate.ts';

export interface WebhooksTable {
  /** Never taken twice, unlike the id. */
  uid: string;
  account_id: AccountId;
  id: WebhookId;
  /** In JSON. */
  event_types: string;
  endpoint_url: string;
  /** 1: a caller on the server's own machine gave the address, which may therefore be one of this machine. */
  given_locally: 0 | 1;
  description: string;
  /** Sealed; see secret.ts. */
  secret: Uint8Array;
  /** The secret before it, which signs, too, until then. */
  previous_secret: Uint8Array | null;
  previous_until: number | null;
  disabled_at: number | null;
  created_at: number;
  updated_at: number;
}

export interface WebhookEventsTable {
  id: EventId;
  /** What is sent, as it is sent and signed. */
  body: string;
  created_at: number;
}

export interface WebhookDeliveriesTable {
  /** In the order in which they came to be. */
  id: string;
  webhook_uid: string;
  event_id: EventId;
  /** How many attempts have ended. */
  attempts: number;
  /** Grows with every claim; whoever holds an older one may not write. */
  fence: number;
  /** When it is sent next; for one that is being sent, when it is taken for lost. */
  next_at: number;
}

export interface WebhookConversationsTable {
  id: ConversationId;
  webhook_uid: string;
  event_id: EventId;
  attempt: number;
  status: ConversationStatus;
  /** 0 for no answer. */
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
    },
  },
  {
    // Who gave the addresses of before is not known: those of this machine are refused until they are given again.
    name: '0053-webhooks-given-locally',
    async up(db) {
      await db.schema
        .alterTable('webhooks')
        .addColumn('given_locally', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
];
