/**
 * Authentication: this server signed the token, and its key exists. Every request reads the key from the database, so that
 * a revoked key stops working at once on every server.
 */
import type { KeyId } from '@switchyard/contract/schemas/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import { errorMessage, type Log } from '../../platform/log.ts';
import { findKey, storeKeyUse } from './store.ts';
import type { Tokens } from './tokens.ts';

/** The last use is stored at most this often: a write per request would cost more than the request. */
const TOUCH_INTERVAL_MS = 60_000;

interface UseRecorderParts<Id> {
  database: Database;
  clock: Clock;
  log: Log;
  /** The kind of the credential, such as `key`, for the log. */
  kind: string;
  store(tx: Writer, id: Id, at: number): Promise<void>;
}

/** Returns a function that stores when a credential was used. It does not wait for the write. */
export function createUseRecorder<Id extends string>(parts: UseRecorderParts<Id>): (id: Id) => void {
  const { database, clock, log, kind, store } = parts;
  const touched = new Map<Id, number>();
  return (id) => {
    const now = clock.now();
    if (now - (touched.get(id) ?? 0) < TOUCH_INTERVAL_MS) return;
    touched.set(id, now);
    database
      .transact((tx) => store(tx, id, now), { durable: false })
      .catch((error: unknown) => log.warn({ kind, id, error: errorMessage(error) }, 'Last use not stored'));
  };
}

/** Stores the last use of a key soon. */
export type KeyTouch = (key: KeyId) => void;

/** Returns the function that stores the last use of keys. */
export function createKeyTouch(parts: { database: Database; clock: Clock; log: Log }): KeyTouch {
  return createUseRecorder({ ...parts, kind: 'key', store: storeKeyUse });
}

/** Returns the function that resolves a bearer token to its caller, or to null for a token that is not valid. */
export function createAuthenticator(parts: {
  database: Database;
  tokens: Tokens;
  touchKey: KeyTouch;
}): (token: string) => Promise<Caller | null> {
  const { database, tokens, touchKey } = parts;
  return async (token) => {
    const claims = await tokens.verify(token);
    if (!claims) return null;
    const key = await findKey(database.read, claims.key);
    if (!key || key.account_id !== claims.account || key.role !== claims.role) return null;
    touchKey(key.id);
    const { account_id: account, name, role, email, owner } = key;
    return { account, key: key.id, name, role, email, owner, session: null };
  };
}
