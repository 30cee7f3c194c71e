/** Operations on sessions of the console. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '@switchyard/contract/account/sessions.ts';
import { KEY_SESSIONS_MAX } from '@switchyard/contract/limits.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { hasRight } from '@switchyard/contract/roles.ts';
import type { SessionId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Writer } from '../../platform/database/database.ts';
import {
  badRequest,
  forbidden,
  notFound,
  orThrow,
  quoteValue,
  unauthorized,
} from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Caller, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import {
  formatSessionCookie,
  isFromOwnPage,
  readSignOnCookie,
} from '../../platform/http/requests/session-cookie.ts';
import { makeId } from '../../platform/random.ts';
import { formatKey } from '../account/response-bodies.ts';
import type { KeysTable } from '../account/schema.ts';
import { findKey } from '../account/store.ts';
import { requireSingleSignOn } from '../sso/single-sign-on.ts';
import type { SessionsTable } from './schema.ts';
import { computeExpiry, createSecret, hashSecret, SESSION_SECONDS, SIGN_IN_LINK_MS } from './sessions.ts';
import * as store from './store.ts';

const USER_AGENT_CHARS_MAX = 256;

export const createSignInLink: OperationHandler<'createSignInLink'> = async (
  { clock, random, publicUrl },
  { caller, commit },
) => {
  const ticket = createSecret(random);
  const expiresAt = clock.now() + SIGN_IN_LINK_MS;
  return commit(async (tx) => {
    await store.insertTicket(tx, {
      ticket_hash: hashSecret(ticket),
      key_id: caller.key,
      expires_at: expiresAt,
    });
    return {
      status: 201,
      body: { url: `${publicUrl()}/console?ticket=${ticket}`, expires_at: formatRfc3339(expiresAt) },
    };
  });
};

export const createSession: OperationHandler<'createSession'> = async (
  context,
  { optionalCaller, body, headers, address, commit, setOwner },
) => {
  const { clock, random, publicUrl } = context;
  // Another site could otherwise sign a person in to an account of its own, and read what they enter there.
  if (!isFromOwnPage(publicUrl(), 'POST', headers))
    throw forbidden('Only the console of this server signs in: the Origin of the request is another one.');
  const findKeyToUse = await checkCredential(context, { ...body, optionalCaller, headers });
  const now = clock.now();
  const secret = createSecret(random);
  const committed = await commit(async (tx) => {
    const key = await findKeyToUse(tx);
    const session: SessionsTable = {
      id: makeId<SessionId>(random, 'session'),
      account_id: key.account_id,
      key_id: key.id,
      owner: key.owner,
      secret_hash: hashSecret(secret),
      user_agent: escapeInvisible(headers['user-agent'] ?? '').slice(0, USER_AGENT_CHARS_MAX),
      address,
      created_at: now,
      last_used_at: now,
      expires_at: computeExpiry(now, now),
    };
    setOwner({ account: key.account_id, resource: { session_id: session.id, key_id: key.id } });
    await store.deleteOldestSessions(tx, session, KEY_SESSIONS_MAX - 1);
    await store.insertSession(tx, session);
    return {
      status: 201,
      body: formatSession(session, key, session.id),
      headers: { 'set-cookie': formatSessionCookie(publicUrl(), secret, SESSION_SECONDS) },
    };
  });
  return committed;
};

export const listSessions: OperationHandler<'listSessions'> = async (context, { caller, query }) => {
  const owner = hasRight(caller.role, 'account') ? null : caller.owner;
  return respondWithList(context, {
    tokenScope: `sessions ${caller.account} ${owner ?? ''}`,
    query,
    queryRows: (page) =>
      store.listSessions(
        context.database.read,
        { account: caller.account, owner, now: context.clock.now() },
        page,
      ),
    formatBodies: (rows) => rows.map(({ session, key }) => formatSession(session, key, caller.session)),
  });
};

export const endSession: OperationHandler<'endSession'> = async ({ publicUrl }, { caller, params, commit }) =>
  commit(async (tx) => {
    const session = await findOwnSession(tx, caller, params.session_id);
    await store.deleteSession(tx, session.id);
    if (session.id !== caller.session) return { status: 204 };
    return { status: 204, headers: { 'set-cookie': formatSessionCookie(publicUrl(), '', 0) } };
  });

/** The credential of a sign-in, of which a request has one. */
interface SignInCredential {
  optionalCaller: Caller | null;
  ticket?: string;
  callback?: string;
  headers: IncomingHttpHeaders;
}

/**
 * Returns the function that uses the credential up and returns its key. A callback is redeemed at the identity provider before
 * the transaction, which must not wait for another server. Throws a 400 unless the request has one credential.
 */
async function checkCredential(
  {
    clock,
    database,
    publicUrl,
    singleSignOn,
  }: Pick<Context, 'clock' | 'database' | 'publicUrl' | 'singleSignOn'>,
  { optionalCaller, ticket, callback, headers }: SignInCredential,
): Promise<(tx: Writer) => Promise<KeysTable>> {
  const isPresent = [optionalCaller !== null, ticket !== undefined, callback !== undefined];
  if (isPresent.filter(Boolean).length !== 1)
    throw badRequest(
      'The sign-in needs one credential: ticket, callback, or a bearer token in the Authorization header.',
    );
  if (callback !== undefined) {
    const provider = requireSingleSignOn(singleSignOn);
    const redeemed = await provider.redeem(callback, readSignOnCookie(publicUrl(), headers));
    return (tx) => provider.admit(tx, redeemed);
  }
  // Without a transaction: an unknown ticket costs no more than an unknown token.
  if (ticket !== undefined && !(await store.hasTicket(database.read, hashSecret(ticket))))
    throw unknownTicket();
  return async (tx) => {
    const key = optionalCaller
      ? await findKey(tx, optionalCaller.key)
      : await consumeTicket(tx, ticket, clock.now());
    return orThrow(key, unknownTicket);
  };
}

const unknownTicket = () =>
  unauthorized('The sign-in link is unknown, older than 10 minutes, or already used.');

/** Uses up the ticket and returns its key; undefined for a ticket that is unknown or expired. */
async function consumeTicket(tx: Writer, ticket = '', now: number): Promise<KeysTable | undefined> {
  const found = await store.deleteTicket(tx, hashSecret(ticket));
  return found && found.expires_at > now ? findKey(tx, found.key_id) : undefined;
}

/** Throws a 404 for a session that the caller may not see. */
async function findOwnSession(tx: Writer, caller: Caller, id: SessionId | 'current'): Promise<SessionsTable> {
  const wanted = id === 'current' ? caller.session : id;
  const session = wanted && (await store.findSession(tx, caller.account, wanted));
  if (!session || !(session.owner === caller.owner || hasRight(caller.role, 'account')))
    throw notFound(`There is no session ${quoteValue(id)}.`);
  return session;
}

function formatSession(session: SessionsTable, key: KeysTable, current: SessionId | null): Session {
  return {
    id: session.id,
    current: session.id === current,
    key: formatKey(key),
    user_agent: session.user_agent,
    address: session.address,
    created_at: formatRfc3339(session.created_at),
    last_used_at: formatRfc3339(session.last_used_at),
    expires_at: formatRfc3339(session.expires_at),
  };
}
