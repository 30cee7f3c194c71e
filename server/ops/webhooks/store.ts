/** Statements on webhooks and their conversations; deliveries are in outbox.ts. */
import { Webhook } from '@switchyard/contract/account/webhook-schemas.ts';
import type { AccountId, ConversationId, WebhookId } from '@switchyard/contract/schemas/ids.ts';
import type { ConversationStatus } from '@switchyard/contract/states.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { isAfter } from '../../platform/database/list-order.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { locked } from '../../platform/database/row-locks.ts';
import { notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import { removeRunEventListener } from '../../runs/store/event-listeners.ts';
import type { WebhookConversationsTable, WebhooksTable } from './schema.ts';

/** Returns the event types to which the webhook subscribes. */
export const parseEventTypes = parseColumn('webhooks', 'id', 'event_types', Webhook.properties.event_types);

/** Inserts the webhook; returns false when the account has one with that id. */
export async function insertWebhook(tx: Writer, webhook: WebhooksTable): Promise<boolean> {
  const result = await tx
    .insertInto('webhooks')
    .values(webhook)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

function findWebhook(db: Reader, account: AccountId, id: WebhookId): Promise<WebhooksTable | undefined> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', account)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Returns the webhook of the account; throws a 404 when it does not exist. */
export async function getWebhook(db: Reader, account: AccountId, id: WebhookId): Promise<WebhooksTable> {
  const webhook = await findWebhook(db, account, id);
  if (!webhook) throw notFound(`There is no webhook ${quoteValue(id)}.`);
  return webhook;
}

export function findWebhookByUid(db: Reader, uid: string): Promise<WebhooksTable | undefined> {
  return db.selectFrom('webhooks').selectAll().where('uid', '=', uid).executeTakeFirst();
}

/** Keeps the webhook from being deleted until the transaction ends; returns false when it does not exist. */
export async function lockWebhook(tx: Writer, uid: string): Promise<boolean> {
  const query = tx.selectFrom('webhooks').select('uid').where('uid', '=', uid);
  return (await locked(tx, query, 'key share').executeTakeFirst()) !== undefined;
}

/** Locks the webhook until the transaction ends, and returns it; undefined when it does not exist. */
export function lockWebhookRow(tx: Writer, uid: string): Promise<WebhooksTable | undefined> {
  return locked(
    tx,
    tx.selectFrom('webhooks').selectAll().where('uid', '=', uid),
    'update',
  ).executeTakeFirst();
}

/** Lists webhooks, newest first; one row more than the limit shows that more follow. */
export function listWebhooks(db: Reader, account: AccountId, page: PageRequest): Promise<WebhooksTable[]> {
  let query = db
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', account)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (page.after) query = query.where(isAfter('webhooks', page.after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Lists the webhooks of the account that receive events. */
export function listEnabledWebhooks(db: Reader, account: AccountId): Promise<WebhooksTable[]> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', account)
    .where('disabled_at', 'is', null)
    .orderBy('id')
    .execute();
}

export async function countWebhooks(db: Reader, account: AccountId): Promise<number> {
  const { count } = await db
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('account_id', '=', account)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Updates the webhook; returns false when it does not exist. */
export async function updateWebhook(
  tx: Writer,
  uid: string,
  changes: Partial<WebhooksTable>,
): Promise<boolean> {
  const result = await tx.updateTable('webhooks').set(changes).where('uid', '=', uid).executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Deletes the webhook; returns false when it does not exist. A job removes its deliveries later; see clean-up.ts. */
export async function deleteWebhook(tx: Writer, uid: string): Promise<boolean> {
  const result = await tx.deleteFrom('webhooks').where('uid', '=', uid).executeTakeFirst();
  return result.numDeletedRows === 1n;
}

export async function deleteAccountWebhooks(tx: Writer, account: AccountId): Promise<void> {
  await removeRunEventListener(tx, account);
  await tx.deleteFrom('webhooks').where('account_id', '=', account).execute();
}

export async function insertConversation(tx: Writer, row: WebhookConversationsTable): Promise<void> {
  await tx.insertInto('webhook_conversations').values(row).execute();
}

/** A conversation with the body of its event. */
export type ConversationWithBody = WebhookConversationsTable & { body: string };

const selectConversations = (db: Reader) =>
  db
    .selectFrom('webhook_conversations')
    .innerJoin('webhook_events', 'webhook_events.id', 'webhook_conversations.event_id')
    .selectAll('webhook_conversations')
    .select('webhook_events.body');

/** Lists the conversations of the webhook, newest first; one row more than the limit shows that more follow. */
export function listConversations(
  db: Reader,
  webhookUid: string,
  status: ConversationStatus | undefined,
  page: PageRequest & { limit: number },
): Promise<ConversationWithBody[]> {
  let query = selectConversations(db)
    .where('webhook_uid', '=', webhookUid)
    .orderBy('webhook_conversations.created_at', 'desc')
    .orderBy('webhook_conversations.id', 'desc')
    .limit(page.limit + 1);
  if (status !== undefined) query = query.where('status', '=', status);
  if (page.after) query = query.where(isAfter('webhook_conversations', page.after));
  return query.execute();
}

/** Returns the last attempt, the last one that succeeded, and the first one that failed after it. Reads four rows of indexes. */
export async function findDeliveryState(db: Reader, webhookUid: string) {
  const select = (order: 'asc' | 'desc') =>
    db
      .selectFrom('webhook_conversations')
      .select(['created_at', 'status', 'error'])
      .where('webhook_uid', '=', webhookUid)
      .orderBy('created_at', order)
      .orderBy('id', order)
      .limit(1);
  const last = await select('desc').executeTakeFirst();
  const success = await select('desc').where('status', '=', 'succeeded').executeTakeFirst();
  const isFailing = last !== undefined && last.status !== 'succeeded';
  const after = select('asc').where('created_at', '>', success?.created_at ?? 0);
  return { last, success, failure: isFailing ? ((await after.executeTakeFirst()) ?? last) : undefined };
}

export function findConversation(
  db: Reader,
  webhookUid: string,
  id: ConversationId,
): Promise<ConversationWithBody | undefined> {
  return selectConversations(db)
    .where('webhook_uid', '=', webhookUid)
    .where('webhook_conversations.id', '=', id)
    .executeTakeFirst();
}
