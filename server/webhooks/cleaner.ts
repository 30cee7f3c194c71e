/** Removes what is left of webhooks that are gone, and conversations that are old, a few rows at a time. */
import type { EventId } from '@switchyard/contract/ids.ts';
import { CONVERSATIONS_KEPT_DAYS } from '@switchyard/contract/limits.ts';
import type { Clock } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import type { Log } from '../log.ts';
import { Reconciler } from '../reconcile/reconciler.ts';
import { forgetConversations, listOrphaned, removeEvents, removeOf } from './outbox.ts';

const EVERY_MS = 60_000;
const AT_ONCE = 100;
const KEPT_MS = CONVERSATIONS_KEPT_DAYS * 24 * 60 * 60 * 1000;

export function webhookCleaner(parts: { database: Database; clock: Clock; log: Log }): Reconciler {
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
      if (removed < AT_ONCE) return;
    }
  };
  return new Reconciler({
    name: 'forget conversations of webhooks',
    everyMs: EVERY_MS,
    clock,
    log,
    run: async () => {
      for (const uid of await listOrphaned(database.read)) {
        await repeat((tx) => removeOf(tx, 'webhook_deliveries', uid, AT_ONCE));
        await repeat((tx) => removeOf(tx, 'webhook_conversations', uid, AT_ONCE));
      }
      await repeat((tx) => forgetConversations(tx, clock.now() - KEPT_MS, AT_ONCE));
    },
  });
}
