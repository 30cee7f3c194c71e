/**
 * Sends an event when a problem begins and one when it ends. A problem begins once two checks in a row find it, and ends once
 * checks did not find it for a minute. So a start of a process, a short pause of a machine or a retry sends nothing. The row
 * of the problem and its deliveries change in one transaction, so each event is sent once, also by several processes.
 */
import type { QueueProblemKind } from '@switchyard/contract/account/event-types.ts';
import { QueueProblemInfo } from '@switchyard/contract/account/webhook-schemas.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { lockAccount } from '../../../accounts/account/store.ts';
import { formatRfc3339 } from '../../../platform/clock.ts';
import type { Database, Reader, Writer } from '../../../platform/database/database.ts';
import { parseColumn } from '../../../platform/database/parse-column.ts';
import { defineJob, type Job, type JobContext } from '../../../platform/jobs/define-job.ts';
import { makeId, type Random } from '../../../platform/random.ts';
import type { ProblemThresholds } from '../../../platform/settings/webhook-settings.ts';
import { enqueueDeliveries, listSubscribedWebhooks } from '../fan-out.ts';
import { type FoundProblem, findProblems } from './find-problems.ts';
import type { QueueProblemsTable } from './schema.ts';

const INTERVAL_MS = 10_000;
/** A problem must be found for this long before it begins. Shorter than the interval, because timers are not exact. */
const CONFIRMATION_MS = 8_000;
/** A problem must be absent for this long before it ends; it covers the longest delay between two retries. */
const ABSENCE_MS = 60_000;

interface Parts extends JobContext {
  database: Database;
  random: Random;
  problemThresholds: ProblemThresholds;
  publicUrl(): string;
}

/** Watches the queue of each account with a webhook for problems, and the workers. */
export function watchQueueJob(parts: Parts): Job {
  const { database, clock, problemThresholds: thresholds } = parts;
  return defineJob<AccountId>(parts, {
    name: 'watch-queue',
    intervalMs: INTERVAL_MS,
    listRows: () => listWatchedAccounts(database.read),
    formatKey: (account) => account,
    async handleRow(account) {
      const now = clock.now();
      const rows = await listProblems(database.read, account);
      const underWay = new Set(rows.filter(({ begun }) => begun !== null).map(({ kind }) => kind));
      const found = await findProblems(database.read, { account, now, thresholds, underWay });
      // Most checks find nothing and need no transaction.
      if (rows.length === 0 && found.length === 0) return;
      await database.transact((tx) => applyCheck(parts, tx, { account, now, found }));
      database.notify('webhooks-due');
    },
  });
}

interface CheckResult {
  account: AccountId;
  now: number;
  found: readonly FoundProblem[];
}

async function applyCheck(parts: Parts, tx: Writer, { account, now, found }: CheckResult): Promise<void> {
  const isLive = (await lockAccount(tx, account)) !== undefined;
  const webhooks = isLive ? await listSubscribedWebhooks(tx, account, 'queue.trouble') : [];
  if (webhooks.length === 0) return deleteProblems(tx, account);
  const rows = await listProblems(tx, account);
  const send = (sequence: number, data: QueueProblemInfo) =>
    enqueueDeliveries(parts, tx, webhooks, {
      event_type: 'queue.trouble',
      created_at: now,
      sequence,
      data,
    });
  for (const problem of found) {
    const row = rows.find(({ kind }) => kind === problem.kind);
    if (!row) await insertProblem(tx, createRow(parts, account, problem, now));
    else if (row.begun === null) {
      if (now - row.found_at < CONFIRMATION_MS) continue;
      const info = formatBegin(parts, row, problem);
      await updateProblem(tx, row, { begun: JSON.stringify(info) });
      await send(1, info);
    } else if (row.absent_since !== null) await updateProblem(tx, row, { absent_since: null });
  }
  for (const row of rows.filter(({ kind }) => !found.some((problem) => problem.kind === kind))) {
    const begun = parseBegun(row);
    if (begun === null) await deleteProblems(tx, account, row.kind);
    else if (row.absent_since === null) await updateProblem(tx, row, { absent_since: now });
    else if (now - row.absent_since >= ABSENCE_MS) {
      await deleteProblems(tx, account, row.kind);
      await send(2, formatEnd(begun, row.absent_since));
    }
  }
}

function createRow(
  { random }: Parts,
  account_id: AccountId,
  { kind }: FoundProblem,
  now: number,
): QueueProblemsTable {
  const id = makeId<string>(random, 'problem');
  return { account_id, kind, id, found_at: now, begun: null, absent_since: null };
}

function formatBegin(
  { publicUrl }: Parts,
  { id, found_at }: QueueProblemsTable,
  { since, ...problem }: FoundProblem,
): QueueProblemInfo {
  const page = problem.kind === 'worker_lost' ? 'workers' : 'queue';
  return {
    id,
    ...problem,
    status: 'begun',
    since: formatRfc3339(since ?? found_at),
    console_url: `${publicUrl()}/console/${page}`,
  };
}

const parseBegun = parseColumn('queue_problems', 'id', 'begun', QueueProblemInfo);

function formatEnd(info: QueueProblemInfo, endedAt: number): QueueProblemInfo {
  return { ...info, status: 'ended', ended_at: formatRfc3339(endedAt) };
}

/** Lists the accounts with an enabled webhook for problems, and those with a problem under way. */
async function listWatchedAccounts(db: Reader): Promise<AccountId[]> {
  const rows = await db
    .selectFrom('webhooks')
    .select('account_id')
    .where('disabled_at', 'is', null)
    .where('event_types', 'like', '%"queue.trouble"%')
    .union(db.selectFrom('queue_problems').select('account_id'))
    .orderBy('account_id')
    .execute();
  return rows.map(({ account_id }) => account_id);
}

/** Lists the problems of the account that are under way. */
function listProblems(db: Reader, account: AccountId): Promise<QueueProblemsTable[]> {
  return db.selectFrom('queue_problems').selectAll().where('account_id', '=', account).execute();
}

async function insertProblem(tx: Writer, problem: QueueProblemsTable): Promise<void> {
  await tx.insertInto('queue_problems').values(problem).execute();
}

async function updateProblem(
  tx: Writer,
  { account_id, kind }: QueueProblemsTable,
  columns: Partial<Pick<QueueProblemsTable, 'begun' | 'absent_since'>>,
): Promise<void> {
  await tx
    .updateTable('queue_problems')
    .set(columns)
    .where('account_id', '=', account_id)
    .where('kind', '=', kind)
    .execute();
}

/** Deletes the problem of the kind; without a kind, all problems of the account. */
async function deleteProblems(tx: Writer, account: AccountId, kind?: QueueProblemKind): Promise<void> {
  let query = tx.deleteFrom('queue_problems').where('account_id', '=', account);
  if (kind !== undefined) query = query.where('kind', '=', kind);
  await query.execute();
}
