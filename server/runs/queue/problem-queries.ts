/** Queries that show problems in the queue of one account. Each reads the partial index of the queued runs of the account. */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader } from '../../platform/database/database.ts';
import type { RunsTable } from '../store/schema.ts';
import { QUEUED } from '../store/status-literals.ts';

export type WaitingRun = Pick<RunsTable, 'id' | 'created_at'>;

const selectQueuedOfAccount = (db: Reader, account: AccountId) =>
  db.selectFrom('runs').where('status', '=', QUEUED).where('account_id', '=', account);

/** Counts the queued runs of before the time, and lists the oldest of them. */
export async function listLongWaitingRuns(
  db: Reader,
  account: AccountId,
  before: number,
  limit: number,
): Promise<{ count: number; oldest: WaitingRun[] }> {
  const waiting = selectQueuedOfAccount(db, account).where('created_at', '<=', before);
  const { count } = await waiting.select((eb) => eb.fn.countAll().as('count')).executeTakeFirstOrThrow();
  if (Number(count) === 0) return { count: 0, oldest: [] };
  const oldest = await waiting.select(['id', 'created_at']).orderBy('created_at').orderBy('id').limit(limit);
  return { count: Number(count), oldest: await oldest.execute() };
}

/** Counts the queued runs, and returns the creation time of the newest and the oldest runs. */
export async function findQueueAges(
  db: Reader,
  account: AccountId,
  limit: number,
): Promise<{ count: number; newest: number; oldest: WaitingRun[] }> {
  const queued = selectQueuedOfAccount(db, account);
  const { count, newest } = await queued
    .select((eb) => [eb.fn.countAll().as('count'), eb.fn.max('created_at').as('newest')])
    .executeTakeFirstOrThrow();
  if (Number(count) === 0) return { count: 0, newest: 0, oldest: [] };
  const oldest = queued.select(['id', 'created_at']).orderBy('created_at').orderBy('id').limit(limit);
  return { count: Number(count), newest: Number(newest), oldest: await oldest.execute() };
}

/** Returns the time of a start of a run of the account after the given time; null when there was none. */
export async function findLastStart(db: Reader, account: AccountId, after: number): Promise<number | null> {
  const row = await db
    .selectFrom('run_events')
    .innerJoin('applications', 'applications.uid', 'run_events.application_uid')
    .select('run_events.at')
    .where('run_events.at', '>', after)
    .where('run_events.status', '=', 'running')
    .where('applications.account_id', '=', account)
    .orderBy('run_events.at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** Counts the queued runs that the host could not execute, and their faults, and lists the oldest of these runs. */
export async function listFaultedRuns(
  db: Reader,
  account: AccountId,
  limit: number,
): Promise<{ count: number; faults: number; runs: (WaitingRun & Pick<RunsTable, 'host_fault'>)[] }> {
  const faulted = selectQueuedOfAccount(db, account).where('host_faults', '>', 0);
  const { count, faults } = await faulted
    .select((eb) => [eb.fn.countAll().as('count'), eb.fn.sum('host_faults').as('faults')])
    .executeTakeFirstOrThrow();
  if (Number(count) === 0) return { count: 0, faults: 0, runs: [] };
  const runs = faulted
    .select(['id', 'created_at', 'host_fault'])
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit);
  return { count: Number(count), faults: Number(faults), runs: await runs.execute() };
}
