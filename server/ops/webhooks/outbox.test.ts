/** Statements of the outbox in two transactions at the same time, as two jobs or two processes run them. */
import type { EventId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import { insertDeliveries, insertEvents, removeEvents, removeWebhookRows } from './outbox.ts';

// SQLite has one writer at a time.
describe.skipIf(!inject('postgres'))('on PostgreSQL', () => {
  let testDatabase: TestDatabase;
  beforeAll(async () => {
    testDatabase = await openTestDatabase();
  });
  afterAll(() => testDatabase.close());

  test('of two transactions that remove the last two deliveries of an event, the later one removes the event', async () => {
    const { database } = testDatabase;
    const event_id = 'event-shared' as EventId;
    const webhooks = ['first', 'second'];
    await database.transact(async (tx) => {
      await insertEvents(tx, [{ id: event_id, body: '{}', created_at: 0 }]);
      await insertDeliveries(
        tx,
        webhooks.map((webhook_uid) => ({ id: `delivery-${webhook_uid}`, webhook_uid, event_id, next_at: 0 })),
      );
    });
    let removing = 0;
    let open = (): void => {};
    const bothRemoved = new Promise<void>((resolve) => {
      open = resolve;
    });
    await Promise.all(
      webhooks.map((webhook) =>
        database.transact(async (tx) => {
          const events = await removeWebhookRows(tx, 'webhook_deliveries', webhook, 100);
          removing += 1;
          if (removing === webhooks.length) open();
          await bothRemoved;
          await removeEvents(tx, events);
        }),
      ),
    );
    expect(await database.read.selectFrom('webhook_events').select('id').execute()).toEqual([]);
    expect(await database.read.selectFrom('webhook_deliveries').select('id').execute()).toEqual([]);
  });
});
