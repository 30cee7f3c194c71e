/** Operations on worker tokens. */
import { findInvalidLabel, LABEL_RULE } from '@switchyard/contract/applications/requirements.ts';
import { WORKER_TOKENS_MAX } from '@switchyard/contract/limits.ts';
import { hasRight } from '@switchyard/contract/roles.ts';
import type { ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import type { WorkerToken } from '@switchyard/contract/workers/worker-tokens.ts';
import { lockCallerAccount } from '../../accounts/account/access-changes.ts';
import { getReferencedApplication } from '../../apps/applications/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { badRequest, forbidden, notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Caller, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { formatReadableRows } from '../../platform/http/lists/readable-rows.ts';
import type { WorkerTokensTable } from './schema.ts';
import {
  createWorkerToken as buildWorkerToken,
  deleteWorkerToken,
  insertWorkerToken,
  listApplicationIds,
  listWorkerTokens,
  parseApplicationUids,
  parseTokenLabels,
} from './worker-tokens.ts';

export const createWorkerToken: OperationHandler<'createWorkerToken'> = async (
  context,
  { caller, body, commit },
) => {
  const { database } = context;
  requireLabels(body.labels ?? []);
  const servesAllAccounts = body.all_accounts ?? false;
  if (servesAllAccounts) requireRoot(caller);
  if (servesAllAccounts && body.applications)
    throw badRequest(
      'all_accounts is true and applications is given; a worker of all accounts cannot be restricted to applications of one. Leave out one of them.',
    );
  const uids: string[] = [];
  for (const [index, id] of (body.applications ?? []).entries()) {
    const reference = { field: `applications.${index}`, id };
    uids.push((await getReferencedApplication(database.read, caller.account, reference)).uid);
  }
  const { token, row } = buildWorkerToken(context, {
    ...{ account: caller.account, name: body.name, servesAllAccounts },
    ...{ createdBy: caller.email, createdByKey: caller.key },
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

export const getWorkerTokens: OperationHandler<'getWorkerTokens'> = async ({ database, log }, { caller }) => {
  const rows = await listWorkerTokens(database.read, caller.account);
  const items = await formatReadableRows(log, rows, async (some) => {
    const tokens: WorkerToken[] = [];
    for (const row of some) {
      const uids = parseApplicationUids(row);
      tokens.push(formatToken(row, uids && (await listApplicationIds(database.read, uids))));
    }
    return tokens;
  });
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

/** Also on a server with one account: the token outlives the day on which a second account signs up. */
function requireRoot({ role }: Caller): void {
  if (hasRight(role, 'server')) return;
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
    labels: parseTokenLabels(row),
    all_accounts: row.serves_all_accounts === 1,
    created_at: formatRfc3339(row.created_at),
    created_by: row.created_by,
    last_used_at: row.last_used_at === null ? null : formatRfc3339(row.last_used_at),
    workers: row.workers,
  };
}
