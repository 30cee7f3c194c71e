/** Removes deliveries and conversations of deleted webhooks, and old conversations, in small transactions. */
import { CONVERSATION_RETENTION_DAYS } from '@switchyard/contract/limits.ts';
import type { EventId } from '@switchyard/contract/schemas/ids.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import {
  listOrphanedWebhookUids,
  removeConversationsBefore,
  removeEvents,
  removeWebhookRows,
} from './outbox.ts';

const INTERVAL_MS = 60_000;
const BATCH_SIZE = 100;
const RETENTION_MS = CONVERSATION_RETENTION_DAYS * 24 * 60 * 60 * 1000;

interface Parts extends JobContext {
  database: Database;
}

/** Removes rows with their events. Returns the number of rows. */
function removeBatch(database: Database, remove: (tx: Writer) => Promise<EventId[]>): Promise<number> {
  return database.transact(
    async (tx) => {
      const events = await remove(tx);
      await removeEvents(tx, events);
      return events.length;
    },
    { durable: false },
  );
}

/** Removes the deliveries and conversations of deleted webhooks. */
export function removeDeletedWebhooksJob(parts: Parts): Job {
  const { database } = parts;
  return defineJob<string>(parts, {
    name: 'remove-deleted-webhooks',
    wakeOn: ['webhooks-deleted'],
    intervalMs: INTERVAL_MS,
    listRows: () => listOrphanedWebhookUids(database.read),
    formatKey: (uid) => uid,
    async handleRow(uid) {
      for (const table of ['webhook_deliveries', 'webhook_conversations'] as const) {
        const remove = (tx: Writer) => removeWebhookRows(tx, table, uid, BATCH_SIZE);
        while ((await removeBatch(database, remove)) === BATCH_SIZE);
      }
    },
  });
}

/** Removes conversations after their retention period. */
export function removeOldConversationsJob(parts: Parts): Job {
  const { database, clock } = parts;
  return defineJob(parts, {
    name: 'remove-old-conversations',
    intervalMs: INTERVAL_MS,
    batchSize: BATCH_SIZE,
    handle: (limit) =>
      removeBatch(database, (tx) => removeConversationsBefore(tx, clock.now() - RETENTION_MS, limit)),
  });
}
