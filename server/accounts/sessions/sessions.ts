/**
 * Sessions of the console: their secrets, their life, and the caller that a cookie identifies. A session is a row, so
 * that it can be listed and ended, and that it works on every server of the installation.
 */
import { createHash } from 'node:crypto';
import { SESSION_DAYS, SESSION_IDLE_DAYS, SIGN_IN_LINK_MINUTES } from '@switchyard/contract/limits.ts';
import type { SessionId } from '@switchyard/contract/schemas/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { errorMessage, type Log } from '../../platform/log.ts';
import type { Random } from '../../platform/random.ts';
import type { KeysTable } from '../account/schema.ts';
import { findKey } from '../account/store.ts';
import { deleteExpiredStates } from '../sso/store.ts';
import type { SessionsTable } from './schema.ts';
import { deleteEndedSessions, findSessionBySecret, touchSession } from './store.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
export const SIGN_IN_LINK_MS = SIGN_IN_LINK_MINUTES * MINUTE_MS;
const SESSION_MS = SESSION_DAYS * DAY_MS;
/** The life of a cookie in the browser; the row ends the session earlier when it is idle. */
export const SESSION_SECONDS = SESSION_MS / 1000;
/** The last use is stored at most this often: a write for each request would cost more than the request. */
const TOUCH_INTERVAL_MS = MINUTE_MS;
const CLEAN_UP_INTERVAL_MS = 10 * MINUTE_MS;
const SECRET_BYTES = 32;

/** Returns a new secret: 256 random bits in base64url. */
export function createSecret(random: Random): string {
  return random.bytes(SECRET_BYTES).toString('base64url');
}

/** Returns the form of a secret that the database holds. A secret has 256 random bits, so it needs no slow hash. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** Returns the instant at which a session ends without another request. */
export function computeExpiry(createdAt: number, now: number): number {
  return Math.min(createdAt + SESSION_MS, now + SESSION_IDLE_DAYS * DAY_MS);
}

/** Returns the caller that a session acts as. */
function createCaller(key: KeysTable, session: SessionId): Caller {
  const { account_id: account, name, role, email, owner } = key;
  return { account, key: key.id, name, role, email, owner, session };
}

/** Returns the function that resolves the secret of a cookie to its caller, or to null for a session that has ended. */
export function createSessionAuthenticator(parts: {
  database: Database;
  clock: Clock;
  log: Log;
}): (secret: string) => Promise<Caller | null> {
  const { database, clock, log } = parts;
  const touch = ({ id, created_at, last_used_at }: SessionsTable): void => {
    const now = clock.now();
    if (now - last_used_at < TOUCH_INTERVAL_MS) return;
    const use = { lastUsedAt: now, expiresAt: computeExpiry(created_at, now) };
    database
      .transact((tx) => touchSession(tx, id, use), { durable: false })
      .catch((error: unknown) =>
        log.warn({ session: id, error: errorMessage(error) }, 'Last use of a session not stored'),
      );
  };
  return async (secret) => {
    const session = await findSessionBySecret(database.read, hashSecret(secret));
    if (!session || session.expires_at <= clock.now()) return null;
    const key = await findKey(database.read, session.key_id);
    if (!key || key.account_id !== session.account_id) return null;
    touch(session);
    return createCaller(key, session.id);
  };
}

/** The job that deletes expired tickets, ended sessions, and used states of single sign-on. */
export function removeEndedSessionsJob(context: JobContext & { database: Database }): Job {
  const { database, clock } = context;
  return defineJob(context, {
    name: 'remove-ended-sessions',
    intervalMs: CLEAN_UP_INTERVAL_MS,
    async handle() {
      await database.transact(async (tx) => {
        await deleteEndedSessions(tx, clock.now());
        await deleteExpiredStates(tx, clock.now());
      });
      return undefined;
    },
  });
}
