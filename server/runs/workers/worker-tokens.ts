/** Issues worker tokens, and resolves one to its caller. A token has its id and a secret of 256 bits in it. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { AccountId, KeyId, WorkerTokenId } from '@switchyard/contract/schemas/ids.ts';
import Type from 'typebox';
import { createUseRecorder } from '../../accounts/account/authenticate.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import type { Log } from '../../platform/log.ts';
import { makeId, type Random } from '../../platform/random.ts';
import type { WorkerTokensTable } from './schema.ts';
import {
  findServerToken,
  findWorkerToken,
  hashWorkerToken,
  insertWorkerToken,
  storeWorkerTokenUse,
} from './worker-token-store.ts';

const PREFIX = 'worker.';
const TOKEN = /^worker\.([a-z0-9-]{1,64})\.[\w-]{43}$/;
const SECRET_BYTES = 32;

/** A new token and its row. */
export interface NewWorkerToken {
  token: string;
  row: WorkerTokensTable;
}

interface TokenRequest {
  account: AccountId;
  name: string;
  createdBy: string;
  createdByKey: KeyId | null;
  applicationUids: readonly string[] | null;
  labels: readonly string[] | null;
  servesAllAccounts: boolean;
}

/** Creates a token; nothing is stored. */
export function createWorkerToken(
  { clock, random }: { clock: Clock; random: Random },
  request: TokenRequest,
): NewWorkerToken {
  const id = makeId<WorkerTokenId>(random, 'wtk');
  return buildToken(id, random.bytes(SECRET_BYTES), { ...request, createdAt: clock.now() });
}

function buildToken(
  id: WorkerTokenId,
  secret: Buffer,
  request: TokenRequest & { createdAt: number },
): NewWorkerToken {
  const token = `${PREFIX}${id}.${secret.toString('base64url')}`;
  const { account, name, createdBy, createdByKey, applicationUids, labels, servesAllAccounts } = request;
  return {
    token,
    row: {
      ...{ id, name, account_id: account, hash: hashWorkerToken(token) },
      application_uids: applicationUids && JSON.stringify(applicationUids),
      labels: labels && JSON.stringify(labels),
      serves_all_accounts: servesAllAccounts ? 1 : 0,
      ...{ created_at: request.createdAt, created_by: createdBy, created_by_key: createdByKey },
      last_used_at: null,
    },
  };
}

/**
 * Returns the token of the server itself, for workers that its provisioner starts. They execute the runs of all accounts. It is
 * the same one until somebody revokes it, so that the workers of a server stay when it restarts. Its secret is not stored, but
 * derived from the key and its id.
 */
export async function ensureServerToken(
  tx: Writer,
  { clock, random, key }: { clock: Clock; random: Random; key: Buffer },
  { account, name }: { account: AccountId; name: string },
): Promise<string> {
  const build = (id: WorkerTokenId): NewWorkerToken =>
    buildToken(id, createHmac('sha256', key).update(id).digest(), {
      ...{ account, name, createdBy: '', createdByKey: null },
      ...{ applicationUids: null, labels: null, servesAllAccounts: true },
      createdAt: clock.now(),
    });
  const stored = await findServerToken(tx, { account, name });
  const found = stored && build(stored.id);
  if (found && found.row.hash === stored.hash) return found.token;
  const { token, row } = build(makeId<WorkerTokenId>(random, 'wtk'));
  await insertWorkerToken(tx, row);
  return token;
}

/** Returns the function that resolves a worker token to its caller; null for any other token, and for a revoked one. */
export function createWorkerAuthenticator(parts: {
  database: Database;
  clock: Clock;
  log: Log;
}): (token: string) => Promise<Caller | null> {
  const { database } = parts;
  const touch = createUseRecorder({ ...parts, kind: 'worker token', store: storeWorkerTokenUse });
  return async (token) => {
    const id = TOKEN.exec(token)?.[1];
    const row = id === undefined ? undefined : await findWorkerToken(database.read, id);
    if (!row || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hashWorkerToken(token)))) return null;
    touch(row.id);
    return formatCaller(row);
  };
}

/** Null for the runs of all applications. */
export const parseApplicationUids = parseColumn(
  'worker_tokens',
  'id',
  'application_uids',
  Type.Array(Type.String()),
);
/** Null for any labels. */
export const parseTokenLabels = parseColumn('worker_tokens', 'id', 'labels', Type.Array(Type.String()));

function formatCaller(row: WorkerTokensTable & { key: KeyId }): Caller {
  return {
    account: row.account_id,
    key: row.key,
    name: row.name,
    role: 'unassigned',
    email: row.created_by,
    owner: `worker token ${row.id}`,
    session: null,
    worker: {
      tokenId: row.id,
      applicationUids: parseApplicationUids(row),
      servesAllAccounts: row.serves_all_accounts === 1,
      labels: parseTokenLabels(row),
    },
  };
}
