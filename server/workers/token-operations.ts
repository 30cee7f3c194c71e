/** Operations on worker tokens. */
import { findInvalidLabel, LABEL_RULE } from '@switchyard/contract/applications/requirements.ts';
import { WORKER_TOKENS_MAX } from '@switchyard/contract/limits.ts';
import type { ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import type { WorkerToken } from '@switchyard/contract/workers/worker-tokens.ts';
import { lockCallerAccount } from '../account/access-changes.ts';
import { managesServer } from '../account/store.ts';
import { getApplication } from '../applications/store.ts';
import { formatRfc3339 } from '../clock.ts';
import type { Reader } from '../database/database.ts';
import { badRequest, forbidden, notFound, quoteValue } from '../http/errors/problem.ts';
import type { Caller, OperationHandler } from '../http/handlers/handler.ts';
import type { WorkerTokensTable } from './schema.ts';
import {
  deleteWorkerToken,
  insertWorkerToken,
  listApplicationIds,
  listWorkerTokens,
} from './worker-token-store.ts';
import { createWorkerToken as buildWorkerToken } from './worker-tokens.ts';

export const createWorkerToken: OperationHandler<'createWorkerToken'> = async (
  context,
  { caller, body, commit },
) => {
  const { database } = context;
  requireLabels(body.labels ?? []);
  const servesAllAccounts = body.all_accounts ?? false;
  if (servesAllAccounts) await requireManager(database.read, caller);
  if (servesAllAccounts && body.applications)
    throw badRequest(
      'all_accounts is true and applications is given; a worker of all accounts cannot be restricted to applications of one. Leave out one of them.',
    );
  const uids: string[] = [];
  for (const id of body.applications ?? [])
    uids.push((await getApplication(database.read, caller.account, id)).uid);
  const { token, row } = buildWorkerToken(context, {
    ...{ account: caller.account, name: body.name, createdBy: caller.email, servesAllAccounts },
    applicationUids: body.applications ? uids : null,
    labels: body.labels ?? null,
  });
  return commit(async (tx) => {
    await lockCallerAccount(tx, caller);
    const existing = await listWorkerTokens(tx, caller.account);
    if (existing.length >= WORKER_TOKENS_MAX)
      throw badRequest(
        `The account has ${existing.length} worker tokens, and may have ${WORKER_TOKENS_MAX}; revoke one first.`,
      );
    await insertWorkerToken(tx, row);
    const applications = body.applications ?? null;
    return { status: 201, body: { ...formatToken({ ...row, workers: 0 }, applications), token } };
  });
};

export const getWorkerTokens: OperationHandler<'getWorkerTokens'> = async ({ database }, { caller }) => {
  const items: WorkerToken[] = [];
  for (const row of await listWorkerTokens(database.read, caller.account)) {
    const uids: string[] | null = row.application_uids === null ? null : JSON.parse(row.application_uids);
    items.push(formatToken(row, uids && (await listApplicationIds(database.read, uids))));
  }
  return { status: 200, body: { items } };
};

export const revokeWorkerToken: OperationHandler<'revokeWorkerToken'> = async (
  { database },
  { caller, params, commit },
) => {
  const committed = await commit(async (tx) => {
    if (!(await deleteWorkerToken(tx, caller.account, params.worker_token_id)))
      throw notFound(`There is no worker token ${quoteValue(params.worker_token_id)}.`);
    return { status: 204 };
  });
  database.notify('workers-changed');
  return committed;
};

function requireLabels(labels: readonly string[]): void {
  const invalid = findInvalidLabel(labels);
  if (invalid !== undefined) throw badRequest(`labels has ${quoteValue(invalid)}; ${LABEL_RULE}`);
}

async function requireManager(db: Reader, caller: Caller): Promise<void> {
  if (await managesServer(db, caller.role)) return;
  throw forbidden(
    'all_accounts is true: its workers would see the runs of other accounts of this server, so only root may create it. Leave it out, or ask the operator of the server.',
  );
}

function formatToken(
  row: WorkerTokensTable & { workers: number },
  applications: ApplicationId[] | null,
): WorkerToken {
  return {
    id: row.id,
    name: row.name,
    applications,
    labels: row.labels === null ? null : JSON.parse(row.labels),
    all_accounts: row.serves_all_accounts === 1,
    created_at: formatRfc3339(row.created_at),
    created_by: row.created_by,
    last_used_at: row.last_used_at === null ? null : formatRfc3339(row.last_used_at),
    workers: row.workers,
  };
}
