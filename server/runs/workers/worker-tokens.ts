/** Issues worker tokens, and resolves one to its caller. A token has its id and a secret of 256 bits in it. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { AccountId, ApplicationId, KeyId, WorkerTokenId } from '@switchyard/contract/schemas/ids.ts';
import Type from 'typebox';
import { createUseRecorder } from '../../accounts/account/authenticate.ts';
import { removeAllowedTokens } from '../../apps/marketplace/allowed-worker-tokens.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Reader, Writer } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import type { Log } from '../../platform/log.ts';
import { makeId, type Random } from '../../platform/random.ts';
import type { WorkerTokensTable } from './schema.ts';

const PREFIX = 'worker.';
const TOKEN = /^worker\.([a-z0-9-]{1,64})\.[\w-]{43}$/;
const SECRET_BYTES = 32;

const selectWorkerToken = prepareStatement((db, { id }: { id: string }) =>
  db
    .selectFrom('worker_tokens')
    .selectAll()
    .select((eb) => eb.ref('id').$castTo<KeyId>().as('key'))
    .where((eb) => eb(eb.ref('id').$castTo<string>(), '=', id)),
);

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

/** Returns the hash by which a token is stored; the token itself is stored nowhere. */
function hashWorkerToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export async function insertWorkerToken(tx: Writer, row: WorkerTokensTable): Promise<void> {
  await tx.insertInto('worker_tokens').values(row).execute();
}

/** Returns the token of the id, which stands for that of a key in the caller; undefined without one. */
export async function findWorkerToken(
  db: Reader,
  id: string,
): Promise<(WorkerTokensTable & { key: KeyId }) | undefined> {
  const [token] = await selectWorkerToken(db, { id });
  return token;
}

/** Returns the newest token of the name that the server itself issued; undefined without one. */
function findServerToken(
  db: Reader,
  { account, name }: { account: AccountId; name: string },
): Promise<WorkerTokensTable | undefined> {
  return db
    .selectFrom('worker_tokens')
    .selectAll()
    .where('account_id', '=', account)
    .where('name', '=', name)
    .where('created_by', '=', '')
    .where('serves_all_accounts', '=', 1)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst();
}

/** Lists the worker tokens of the account, newest first, with the number of their workers. */
export async function listWorkerTokens(
  db: Reader,
  account: AccountId,
): Promise<(WorkerTokensTable & { workers: number })[]> {
  const rows = await db
    .selectFrom('worker_tokens')
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('workers')
        .select((count) => count.fn.countAll().as('workers'))
        .whereRef('workers.token_id', '=', 'worker_tokens.id')
        .as('workers'),
    )
    .where('account_id', '=', account)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => ({ ...row, workers: Number(row.workers) }));
}

/**
 * Counts the registered workers of each token that members of the account created. The workers of the server's own tokens have the
 * limit of its provisioner.
 */
export async function countWorkersOfTokens(
  db: Reader,
  account: AccountId,
): Promise<{ id: WorkerTokenId; workers: number }[]> {
  const rows = await db
    .selectFrom('worker_tokens')
    .innerJoin('workers', 'workers.token_id', 'worker_tokens.id')
    .select((eb) => ['worker_tokens.id', eb.fn.countAll().as('workers')])
    .where('worker_tokens.account_id', '=', account)
    .where('worker_tokens.created_by', '<>', '')
    .groupBy('worker_tokens.id')
    .execute();
  return rows.map(({ id, workers }) => ({ id, workers: Number(workers) }));
}

/** Returns the ids of the applications that still exist, in the order of their ids. */
export async function listApplicationIds(db: Reader, uids: readonly string[]): Promise<ApplicationId[]> {
  if (uids.length === 0) return [];
  const query = db.selectFrom('applications').select('id').where('uid', 'in', uids).orderBy('id');
  return (await query.execute()).map(({ id }) => id);
}

async function storeWorkerTokenUse(tx: Writer, id: WorkerTokenId, at: number): Promise<void> {
  await tx.updateTable('worker_tokens').set({ last_used_at: at }).where('id', '=', id).execute();
}

/** Deletes the token and its workers, whose runs are orphans then. Returns false when the account has no such token. */
export async function deleteWorkerToken(tx: Writer, account: AccountId, id: WorkerTokenId): Promise<boolean> {
  const result = await tx
    .deleteFrom('worker_tokens')
    .where('id', '=', id)
    .where('account_id', '=', account)
    .executeTakeFirst();
  if (result.numDeletedRows !== 1n) return false;
  await tx.deleteFrom('workers').where('token_id', '=', id).execute();
  await removeAllowedTokens(tx, [id]);
  return true;
}

export async function deleteAccountWorkerTokens(tx: Writer, account: AccountId): Promise<void> {
  const tokens = tx.selectFrom('worker_tokens').select('id').where('account_id', '=', account);
  await tx.deleteFrom('workers').where('token_id', 'in', tokens).execute();
  await removeAllowedTokens(
    tx,
    (await tokens.execute()).map(({ id }) => id),
  );
  await tx.deleteFrom('worker_tokens').where('account_id', '=', account).execute();
}
