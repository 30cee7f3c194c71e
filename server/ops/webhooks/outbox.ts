/**
 * Statements on events and their deliveries. A claim moves the next attempt of a delivery beyond the duration of an attempt.
 * A process that dies thereby loses its claims, and the fencing token rejects its later writes.
 */
import type { EventId } from '@switchyard/contract/schemas/ids.ts';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { locked, lockRows } from '../../platform/database/row-locks.ts';
import type { WebhookDeliveriesTable, WebhookEventsTable } from './schema.ts';

/** Keeps a statement below the parameter limit of SQLite (32,766). */
const ROWS_PER_STATEMENT = 1000;

/** Stores events. Insert their deliveries in the same transaction. */
export async function insertEvents(tx: Writer, events: readonly WebhookEventsTable[]): Promise<void> {
  if (events.length > 0) await tx.insertInto('webhook_events').values(events).execute();
}

export type NewDelivery = Pick<WebhookDeliveriesTable, 'id' | 'webhook_uid' | 'event_id' | 'next_at'>;

/** Inserts deliveries without attempts. Call `database.notify('webhooks-due')` after the commit. */
export async function insertDeliveries(tx: Writer, deliveries: readonly NewDelivery[]): Promise<void> {
  for (let from = 0; from < deliveries.length; from += ROWS_PER_STATEMENT)
    await tx
      .insertInto('webhook_deliveries')
      .values(
        deliveries.slice(from, from + ROWS_PER_STATEMENT).map((one) => ({ ...one, attempts: 0, fence: 0 })),
      )
      .execute();
}

type WebhookRowsTable = 'webhook_deliveries' | 'webhook_conversations';

/**
 * Selects the uids of the webhooks to which rows of the table refer, as a table with one column. It skips from one webhook
 * to the next by the index (a loose index scan): the many deliveries of a dead receiver are not scanned.
 */
const selectWebhookUids = (table: WebhookRowsTable) => sql<{ uid: string }>`(
  with recursive found(uid) as (
    select min(webhook_uid) from ${sql.table(table)}
    union all
    select (select min(webhook_uid) from ${sql.table(table)} where webhook_uid > found.uid)
    from found where found.uid is not null
  )
  select uid from found where uid is not null
)`;

/** A webhook with due deliveries; without an account when it is deleted. */
export interface DueWebhook {
  uid: string;
  account: string | null;
}

/** Lists the webhooks that have a delivery due at the time. */
export async function listDueWebhooks(db: Reader, now: number): Promise<DueWebhook[]> {
  const { rows } = await sql<DueWebhook>`
    select waiting.uid, webhooks.account_id as account
    from ${selectWebhookUids('webhook_deliveries')} as waiting
    left join webhooks on webhooks.uid = waiting.uid
    where exists (select 1 from webhook_deliveries where webhook_uid = waiting.uid and next_at <= ${now})
  `.execute(db);
  return rows;
}

/** Lists the uids of deleted webhooks that still have deliveries or conversations. */
export async function listOrphanedWebhookUids(db: Reader): Promise<string[]> {
  const { rows } = await sql<{ uid: string }>`
    select uid from (
      select uid from ${selectWebhookUids('webhook_deliveries')} as delivered
      union
      select uid from ${selectWebhookUids('webhook_conversations')} as talked
    ) as both_of
    where not exists (select 1 from webhooks where webhooks.uid = both_of.uid)
  `.execute(db);
  return rows.map((row) => row.uid);
}

/** Returns the time of the next delivery, in milliseconds since the epoch, or null without deliveries. */
export async function findNextDueTime(db: Reader): Promise<number | null> {
  const row = await db
    .selectFrom('webhook_deliveries')
    .select('next_at')
    .orderBy('next_at')
    .limit(1)
    .executeTakeFirst();
  return row?.next_at ?? null;
}

/** A delivery that this process has claimed, with the body of its event. */
export type ClaimedDelivery = WebhookDeliveriesTable & { body: string };

/** Claims at most `limit` due deliveries of the webhook until `claim.until`, oldest first. */
export async function claimDue(
  tx: Writer,
  webhookUid: string,
  claim: { now: number; until: number; limit: number },
): Promise<ClaimedDelivery[]> {
  const query = tx
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('webhook_uid', '=', webhookUid)
    .where('next_at', '<=', claim.now)
    .orderBy('next_at')
    .orderBy('id')
    .limit(claim.limit);
  const due = await locked(tx, query, 'update skip locked').execute();
  if (due.length === 0) return [];
  const ids = due.map((one) => one.id);
  await tx
    .updateTable('webhook_deliveries')
    .set((eb) => ({ fence: eb('fence', '+', 1), next_at: claim.until }))
    .where('id', 'in', ids)
    .execute();
  // The clean-up can remove an event while a caller replays it; its delivery then has no body to send.
  await tx
    .deleteFrom('webhook_deliveries')
    .where('id', 'in', ids)
    .where('event_id', 'not in', (eb) =>
      eb
        .selectFrom('webhook_events')
        .select('webhook_events.id')
        .whereRef('webhook_events.id', '=', 'webhook_deliveries.event_id'),
    )
    .execute();
  return tx
    .selectFrom('webhook_deliveries')
    .innerJoin('webhook_events', 'webhook_events.id', 'webhook_deliveries.event_id')
    .selectAll('webhook_deliveries')
    .select('webhook_events.body')
    .where('webhook_deliveries.id', 'in', ids)
    .orderBy('webhook_deliveries.id')
    .execute();
}

type DeliveryClaim = Pick<WebhookDeliveriesTable, 'id' | 'fence'>;

/** Schedules the next attempt; returns false when another process has claimed the delivery since. */
export async function reschedule(
  tx: Writer,
  { id, fence }: DeliveryClaim,
  changes: Partial<Pick<WebhookDeliveriesTable, 'attempts' | 'next_at'>>,
): Promise<boolean> {
  const result = await tx
    .updateTable('webhook_deliveries')
    .set(changes)
    .where('id', '=', id)
    .where('fence', '=', fence)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Deletes a delivery that has ended; returns false when another process has claimed it since. */
export async function finishDelivery(tx: Writer, { id, fence }: DeliveryClaim): Promise<boolean> {
  const result = await tx
    .deleteFrom('webhook_deliveries')
    .where('id', '=', id)
    .where('fence', '=', fence)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Removes at most `limit` rows of a webhook from the table; returns the ids of their events. */
export function removeWebhookRows(
  tx: Writer,
  table: WebhookRowsTable,
  webhookUid: string,
  limit: number,
): Promise<EventId[]> {
  return removeRows(tx, table, limit, sql`webhook_uid = ${webhookUid}`);
}

/** Removes at most `limit` conversations from before the time; returns the ids of their events. */
export function removeConversationsBefore(tx: Writer, before: number, limit: number): Promise<EventId[]> {
  return removeRows(tx, 'webhook_conversations', limit, sql`created_at < ${before}`);
}

async function removeRows(
  tx: Writer,
  table: WebhookRowsTable,
  limit: number,
  condition: RawBuilder<SqlBool>,
): Promise<EventId[]> {
  const rows = await tx
    .deleteFrom(table)
    .where('id', 'in', (eb) => eb.selectFrom(table).select('id').where(condition).limit(limit))
    .returning('event_id')
    .execute();
  return rows.map((row) => row.event_id);
}

/**
 * Removes the events to which no delivery and no conversation refers. Two transactions that remove the last two rows of an
 * event do not see each other's removal, and the event would stay for ever. Therefore each locks the event first, and the
 * second one reads after the commit of the first.
 */
export async function removeEvents(tx: Writer, ids: readonly EventId[]): Promise<void> {
  if (ids.length === 0) return;
  const events = tx.selectFrom('webhook_events').select('id').where('id', 'in', ids).orderBy('id');
  await lockRows(tx, events, 'update');
  await tx
    .deleteFrom('webhook_events')
    .where('id', 'in', ids)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('webhook_deliveries')
            .select('webhook_deliveries.id')
            .whereRef('webhook_deliveries.event_id', '=', 'webhook_events.id'),
        ),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('webhook_conversations')
            .select('webhook_conversations.id')
            .whereRef('webhook_conversations.event_id', '=', 'webhook_events.id'),
        ),
      ),
    )
    .execute();
}
