/**
 * Events and their deliveries: every statement on them. A delivery is claimed by moving its next instant behind the time
 * that an attempt may take: whoever dies with it loses it by that, and the fence keeps the dead from writing later.
 */
import type { EventId } from '@switchyard/contract/schemas/ids.ts';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader, Writer } from '../database/database.ts';
import { locked } from '../database/row-locks.ts';
import type { WebhookDeliveriesTable, WebhookEventsTable } from './schema.ts';

export async function insertEvent(tx: Writer, event: WebhookEventsTable): Promise<void> {
  await tx.insertInto('webhook_events').values(event).execute();
}

/** Call `database.notify('webhooks-due')` after the commit. */
export async function insertDeliveries(
  tx: Writer,
  deliveries: readonly Pick<WebhookDeliveriesTable, 'id' | 'webhook_uid' | 'event_id' | 'next_at'>[],
): Promise<void> {
  if (deliveries.length > 0)
    await tx
      .insertInto('webhook_deliveries')
      .values(deliveries.map((one) => ({ ...one, attempts: 0, fence: 0 })))
      .execute();
}

type OfWebhooks = 'webhook_deliveries' | 'webhook_conversations';

/**
 * The webhooks that rows of the table name, as a table of one column, `uid`. It goes from one webhook to the next by the
 * index: what many deliveries a dead receiver has piled up is not gone through for the others to be found.
 */
const named = (table: OfWebhooks) => sql<{ uid: string }>`(
  with recursive found(uid) as (
    select min(webhook_uid) from ${sql.table(table)}
    union all
    select (select min(webhook_uid) from ${sql.table(table)} where webhook_uid > found.uid)
    from found where found.uid is not null
  )
  select uid from found where uid is not null
)`;

/** A webhook that has anything due; without an account once it is deleted. */
export interface DueWebhook {
  uid: string;
  account: string | null;
}

export async function listDueWebhooks(db: Reader, now: number): Promise<DueWebhook[]> {
  const { rows } = await sql<DueWebhook>`
    select waiting.uid, webhooks.account_id as account
    from ${named('webhook_deliveries')} as waiting
    left join webhooks on webhooks.uid = waiting.uid
    where exists (select 1 from webhook_deliveries where webhook_uid = waiting.uid and next_at <= ${now})
  `.execute(db);
  return rows;
}

/** Webhooks of deliveries and conversations that are gone. */
export async function listOrphanedWebhookUids(db: Reader): Promise<string[]> {
  const { rows } = await sql<{ uid: string }>`
    select uid from (
      select uid from ${named('webhook_deliveries')} as delivered
      union
      select uid from ${named('webhook_conversations')} as talked
    ) as both_of
    where not exists (select 1 from webhooks where webhooks.uid = both_of.uid)
  `.execute(db);
  return rows.map((row) => row.uid);
}

/** The next instant at which anything is due, or null when nothing waits. */
export async function findNextDueTime(db: Reader): Promise<number | null> {
  const row = await db
    .selectFrom('webhook_deliveries')
    .select('next_at')
    .orderBy('next_at')
    .limit(1)
    .executeTakeFirst();
  return row?.next_at ?? null;
}

export type ClaimedDelivery = WebhookDeliveriesTable & { body: string };

/** Claims what is due for the webhook, oldest first, at most `limit`. */
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
  // An event that was forgotten while somebody asked for it again leaves nothing to send.
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

type Held = Pick<WebhookDeliveriesTable, 'id' | 'fence'>;

/** Has it sent again; false when somebody else holds it by now. */
export async function reschedule(
  tx: Writer,
  { id, fence }: Held,
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

/** It was delivered, or is given up; false when somebody else holds it by now. */
export async function finishDelivery(tx: Writer, { id, fence }: Held): Promise<boolean> {
  const result = await tx
    .deleteFrom('webhook_deliveries')
    .where('id', '=', id)
    .where('fence', '=', fence)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Removes what the table has of a webhook, at most `limit` rows at once; answers their events. */
export function removeWebhookRows(
  tx: Writer,
  table: OfWebhooks,
  webhookUid: string,
  limit: number,
): Promise<EventId[]> {
  return removeSome(tx, table, limit, sql`webhook_uid = ${webhookUid}`);
}

/** Removes conversations from before the instant, at most `limit` at once; answers their events. */
export function removeConversationsBefore(tx: Writer, before: number, limit: number): Promise<EventId[]> {
  return removeSome(tx, 'webhook_conversations', limit, sql`created_at < ${before}`);
}

async function removeSome(
  tx: Writer,
  table: OfWebhooks,
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

/** Removes those of the events that nothing names any more. */
export async function removeEvents(tx: Writer, ids: readonly EventId[]): Promise<void> {
  if (ids.length === 0) return;
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
