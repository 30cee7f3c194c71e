/** Finds the problems of an account by the rows of its queue and of the workers. */
import type { QueueProblemKind } from '@switchyard/contract/account/event-types.ts';
import type { QueueProblemInfo } from '@switchyard/contract/account/webhook-schemas.ts';
import { QUEUE_PROBLEM_IDS_MAX } from '@switchyard/contract/limits.ts';
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../../platform/clock.ts';
import type { Reader } from '../../../platform/database/database.ts';
import type { ProblemThresholds } from '../../../platform/settings/webhook-settings.ts';
import { QUEUED, type RunsTable } from '../../../runs/store/schema.ts';
import { type LostWorker, listLostWorkers } from '../../../runs/workers/lost-workers.ts';

/** A problem as a check finds it. `since` is in milliseconds since the epoch; null for the time of the check. */
export type FoundProblem = Pick<
  QueueProblemInfo,
  'kind' | 'message' | 'remedy' | 'count' | 'run_ids' | 'worker_ids'
> & {
  since: number | null;
};

interface Check {
  account: AccountId;
  now: number;
  thresholds: ProblemThresholds;
  /** The kinds that are under way. */
  underWay: ReadonlySet<QueueProblemKind>;
}

/** Returns the problems of the account at the time of the check, at most one of each kind. */
export async function findProblems(db: Reader, check: Check): Promise<FoundProblem[]> {
  const { account, now, thresholds } = check;
  const { hostFaults, waitingMs } = thresholds;
  const waiting = await listLongWaitingRuns(db, account, now - waitingMs, QUEUE_PROBLEM_IDS_MAX);
  const lost = await listLostWorkers(db, now);
  const faulted = await listFaultedRuns(db, account, QUEUE_PROBLEM_IDS_MAX);
  const problems = [
    describeWaitingRuns(waiting, thresholds),
    await findStalledQueue(db, check),
    describeLostWorkers(lost),
    faulted.faults >= hostFaults ? describeFaultedRuns(faulted) : null,
  ];
  return problems.filter((problem) => problem !== null);
}

const listIds = (runs: readonly { id: RunId }[]): RunId[] => runs.map(({ id }) => id);
const formatRunCount = (count: number): string => (count === 1 ? '1 run' : `${count} runs`);

function describeWaitingRuns(
  { count, oldest }: { count: number; oldest: readonly WaitingRun[] },
  { waitingMs }: ProblemThresholds,
): FoundProblem | null {
  const [first] = oldest;
  if (!first) return null;
  return {
    kind: 'run_waiting',
    message: `${formatRunCount(count)} ${count === 1 ? 'has' : 'have'} waited in the queue for more than ${waitingMs / 1000} s. The oldest waits since ${formatRfc3339(first.created_at)}.`,
    remedy:
      'Open the queue of the console: it gives the reason of each run. Add slots or workers, or cancel runs that hold the slots.',
    since: first.created_at,
    count,
    run_ids: listIds(oldest),
    worker_ids: [],
  };
}

/**
 * A queue begins to stall when runs were added during the threshold while none started. It stalls until a run starts or the
 * queue is empty, also when nobody adds a run any more.
 */
async function findStalledQueue(
  db: Reader,
  { account, now, thresholds: { stalledMs }, underWay }: Check,
): Promise<FoundProblem | null> {
  const ages = await findQueueAges(db, account, QUEUE_PROBLEM_IDS_MAX);
  const [first] = ages.oldest;
  const since = now - stalledMs;
  if (!first || first.created_at > since) return null;
  if (ages.newest <= since && !underWay.has('queue_stalled')) return null;
  const started = await findLastStart(db, account, since);
  if (started !== null) return null;
  return {
    kind: 'queue_stalled',
    message: `${formatRunCount(ages.count)} ${ages.count === 1 ? 'is' : 'are'} queued, and none of the account has started for ${stalledMs / 1000} s while the queue grew.`,
    remedy:
      'Check that a worker is active and serves the execution classes of the queue. Then look for runs that hold all slots.',
    since: first.created_at,
    count: ages.count,
    run_ids: listIds(ages.oldest),
    worker_ids: [],
  };
}

function describeLostWorkers(lost: readonly LostWorker[]): FoundProblem | null {
  const [first] = lost;
  if (!first) return null;
  const count = lost.length;
  return {
    kind: 'worker_lost',
    message: `${count === 1 ? '1 worker sends' : `${count} workers send`} no heartbeat. The last one came at ${formatRfc3339(first.heartbeat_at)}.`,
    remedy:
      'Check the process and the machine of the worker, and its connection to the database. Start it again: its runs are back in the queue.',
    since: first.heartbeat_at,
    count,
    run_ids: [],
    worker_ids: lost.slice(0, QUEUE_PROBLEM_IDS_MAX).map(({ id }) => id),
  };
}

function describeFaultedRuns({
  faults,
  count,
  runs,
}: Awaited<ReturnType<typeof listFaultedRuns>>): FoundProblem {
  const fault = runs[0]?.host_fault ?? '';
  return {
    kind: 'host_faults',
    message: `The host failed ${faults} times to execute ${formatRunCount(count)}. The last fault of the first: ${fault}`,
    remedy:
      'Free what the host lacks: disk space, memory, processes or file descriptors. The runs are retried, and these attempts do not count.',
    since: null,
    count,
    run_ids: listIds(runs),
    worker_ids: [],
  };
}

type WaitingRun = Pick<RunsTable, 'id' | 'created_at'>;

const selectQueuedOfAccount = (db: Reader, account: AccountId) =>
  db.selectFrom('runs').where('status', '=', QUEUED).where('account_id', '=', account);

/** Counts the queued runs of before the time, and lists the oldest of them. */
async function listLongWaitingRuns(
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
async function findQueueAges(
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
async function findLastStart(db: Reader, account: AccountId, after: number): Promise<number | null> {
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
async function listFaultedRuns(
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
