/** Removes what is left of webhooks that are gone, and conversations that are old, a few rows at a time. */

import { CONVERSATION_RETENTION_DAYS } from '@switchyard/contract/limits.ts';
import type { EventId } from '@switchyard/contract/schemas/ids.ts';
import type { Clock } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import { Reconciler } from '../jobs/reconciler.ts';
import type { Log } from '../log.ts';
import {
  listOrphanedWebhookUids,
  removeConversationsBefore,
  removeEvents,
  removeWebhookRows,
} from './outbox.ts';

const INTERVAL_MS = 60_000;
const BATCH_SIZE = 100;
const RETENTION_MS = CONVERSATION_RETENTION_DAYS * 24 * 60 * 60 * 1000;

export function createWebhookCleanUpJob(parts: { database: Database; clock: Clock; log: Log }): Reconciler {
  const { database, clock, log } = parts;
  const repeat = async (remove: (tx: Writer) => Promise<EventId[]>): Promise<void> => {
    for (;;) {
      const removed = await database.transact(
        async (tx) => {
          const events = await remove(tx);
          await removeEvents(tx, events);
          return events.length;
        },
        { durable: false },
      );
      if (removed < BATCH_SIZE) return;
    }
  };
  return new Reconciler({
    name: 'forget conversations of webhooks',
    intervalMs: INTERVAL_MS,
    clock,
    log,
    run: async () => {
      for (const uid of await listOrphanedWebhookUids(database.read)) {
        await repeat((tx) => removeWebhookRows(tx, 'webhook_deliveries', uid, BATCH_SIZE));
        await repeat((tx) => removeWebhookRows(tx, 'webhook_conversations', uid, BATCH_SIZE));
      }
      await repeat((tx) => removeConversationsBefore(tx, clock.now() - RETENTION_MS, BATCH_SIZE));
    },
  });
}
