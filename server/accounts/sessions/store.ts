/** Statements on sessions and sign-in tickets. */
import type { AccountId, SessionId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { isAfter } from '../../platform/database/list-order.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import type { KeysTable } from '../account/schema.ts';
import type { SessionsTable, SignInTicketsTable } from './schema.ts';

export async function insertSession(tx: Writer, session: SessionsTable): Promise<void> {
  await tx.insertInto('sessions').values(session).execute();
}

const selectSession = prepareStatement((db, { secretHash }: { secretHash: string }) =>
  db.selectFrom('sessions').selectAll().where('secret_hash', '=', secretHash),
);

/** Returns the session with the secret of this hash, also when it has expired. */
export async function findSessionBySecret(
  db: Reader,
  secretHash: string,
): Promise<SessionsTable | undefined> {
  return (await selectSession(db, { secretHash }))[0];
}

/** A session with the key whose role it has. */
export interface SessionWithKey {
  session: SessionsTable;
  key: KeysTable;
}

/**
 * Lists sessions that have not ended, newest first; with `owner`, those of one member. A session whose key is revoked
 * has ended.
 */
export async function listSessions(
  db: Reader,
  of: { account: AccountId; owner: string | null; now: number },
  page: PageRequest,
): Promise<(SessionWithKey & { id: SessionId; created_at: number })[]> {
  let query = db
    .selectFrom('sessions')
    .selectAll()
    .where('account_id', '=', of.account)
    .where('expires_at', '>', of.now)
    .where('key_id', 'in', (eb) =>
      eb.selectFrom('keys').select('keys.id').where('keys.account_id', '=', of.account),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (of.owner !== null) query = query.where('owner', '=', of.owner);
  if (page.after) query = query.where(isAfter('sessions', page.after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  const sessions = await query.execute();
  const keys = new Map((await findKeys(db, sessions)).map((key) => [key.id, key]));
  return sessions.flatMap((session) => {
    const key = keys.get(session.key_id);
    return key ? [{ session, key, id: session.id, created_at: session.created_at }] : [];
  });
}

/** Counts the sessions of a member that have not ended. */
export async function countSessions(
  db: Reader,
  of: { account: AccountId; owner: string; now: number },
): Promise<number> {
  const { count } = await db
    .selectFrom('sessions')
    .innerJoin('keys', 'keys.id', 'sessions.key_id')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('sessions.account_id', '=', of.account)
    .where('sessions.owner', '=', of.owner)
    .where('sessions.expires_at', '>', of.now)
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function findKeys(db: Reader, sessions: readonly SessionsTable[]): Promise<KeysTable[]> {
  const ids = [...new Set(sessions.map((session) => session.key_id))];
  return ids.length === 0 ? [] : db.selectFrom('keys').selectAll().where('id', 'in', ids).execute();
}

export function findSession(
  db: Reader,
  account: AccountId,
  id: SessionId,
): Promise<SessionsTable | undefined> {
  return db
    .selectFrom('sessions')
    .selectAll()
    .where('account_id', '=', account)
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function deleteSession(tx: Writer, id: SessionId): Promise<void> {
  await tx.deleteFrom('sessions').where('id', '=', id).execute();
}

/** Deletes the oldest sessions of a key, so that `count` remain. Those of other keys of the member stay. */
export async function deleteOldestSessions(
  tx: Writer,
  { account_id, key_id }: Pick<SessionsTable, 'account_id' | 'key_id'>,
  count: number,
): Promise<void> {
  const newest = await tx
    .selectFrom('sessions')
    .select('id')
    .where('account_id', '=', account_id)
    .where('key_id', '=', key_id)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(count)
    .execute();
  const ids = newest.map((row) => row.id);
  let query = tx.deleteFrom('sessions').where('account_id', '=', account_id).where('key_id', '=', key_id);
  if (ids.length > 0) query = query.where('id', 'not in', ids);
  await query.execute();
}

/** Stores the last use of a session, in milliseconds since the epoch, and its new expiry. */
export async function touchSession(
  tx: Writer,
  id: SessionId,
  { lastUsedAt, expiresAt }: { lastUsedAt: number; expiresAt: number },
): Promise<void> {
  await tx
    .updateTable('sessions')
    .set({ last_used_at: lastUsedAt, expires_at: expiresAt })
    .where('id', '=', id)
    .execute();
}

export async function insertTicket(tx: Writer, ticket: SignInTicketsTable): Promise<void> {
  await tx.insertInto('sign_in_tickets').values(ticket).execute();
}

/** Deletes the ticket and returns it, so that it works once; undefined for an unknown or used one. */
export function deleteTicket(tx: Writer, ticketHash: string): Promise<SignInTicketsTable | undefined> {
  return tx
    .deleteFrom('sign_in_tickets')
    .where('ticket_hash', '=', ticketHash)
    .returningAll()
    .executeTakeFirst();
}

/** Returns true for a ticket that nobody has used; it may have expired. */
export async function hasTicket(db: Reader, ticketHash: string): Promise<boolean> {
  const row = await db
    .selectFrom('sign_in_tickets')
    .select('ticket_hash')
    .where('ticket_hash', '=', ticketHash)
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes expired tickets, expired sessions, and sessions of revoked keys. */
export async function deleteEndedSessions(tx: Writer, now: number): Promise<void> {
  await tx.deleteFrom('sign_in_tickets').where('expires_at', '<=', now).execute();
  await tx
    .deleteFrom('sessions')
    .where((eb) =>
      eb.or([
        eb('expires_at', '<=', now),
        eb('key_id', 'not in', (inner) => inner.selectFrom('keys').select('keys.id')),
      ]),
    )
    .execute();
}
