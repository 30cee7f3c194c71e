/** Queries on the queue: its load, the runs in slots, and the active runs of an account. `order/` has its order. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { QUEUED, RUNNING, type RunsTable } from '../store/schema.ts';
import type { BusySlotCount } from '../workers/slots.ts';
import { orderFairly } from './order/fair-order.ts';
import { listLanes } from './order/lanes.ts';
import { comparePositions, isLater, type QueuePosition } from './order/queue-position.ts';
import { type LanePart, readInOrder, selectLanePart } from './order/read-queue.ts';
import { readSlotUse } from './order/slot-use.ts';

/** Counts the queued runs of each class and finds the oldest, by a scan of the partial index of queued runs. */
export async function countQueuedByClass(
  db: Reader,
): Promise<{ execution_class: ExecutionClass; count: number; oldest: number }[]> {
  const rows = await db
    .selectFrom('runs')
    .select((eb) => ['execution_class', eb.fn.countAll().as('count'), eb.fn.min('created_at').as('oldest')])
    .where('status', '=', QUEUED)
    .groupBy('execution_class')
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count), oldest: Number(row.oldest) }));
}

// An ensemble run has no worker and occupies no slot; its child runs do. Nor does a workflow that waits.
const selectBusySlots = prepareStatement(
  (db) =>
    db
      .selectFrom('runs')
      .select((eb) => ['worker_id', 'execution_class', eb.fn.countAll().as('count')])
      .where('status', '=', RUNNING)
      .where('worker_id', 'is not', null)
      .where('slot_released_at', 'is', null)
      .groupBy(['worker_id', 'execution_class']),
  { isReusable: true },
);

/** Counts the busy slots of every worker and class. */
export async function countBusySlots(db: Reader): Promise<BusySlotCount[]> {
  return (await selectBusySlots(db, {})).map((row) => ({ ...row, count: Number(row.count) }));
}

/** The columns of a running run with its requirements, and with the facts that its duration depends on. */
export const HOLDER_COLUMNS = [
  'id',
  'account_id',
  'application_id',
  'application_uid',
  'instance_id',
  'executable_id',
  'execution_class',
  'max_duration',
  'initiated_at',
  'required_labels',
  'required_licenses',
] as const;

const SLOT_HOLDER_COLUMNS = [...HOLDER_COLUMNS, 'worker_id', 'network', 'containment'] as const;

export type SlotHolder = Pick<RunsTable, (typeof SLOT_HOLDER_COLUMNS)[number]>;

const selectWorkflowCounts = prepareStatement(
  (db) =>
    db
      .selectFrom('runs')
      .select((eb) => ['worker_id', 'workflow_depth', eb.fn.countAll().as('count')])
      .where('status', '=', RUNNING)
      .where('worker_id', 'is not', null)
      .where('api_access', 'is not', null)
      .groupBy(['worker_id', 'workflow_depth']),
  { isReusable: true },
);

/** Counts the workflows of each worker by their depth, with those that have released their slot. */
export async function countWorkflows(
  db: Reader,
): Promise<(Pick<RunsTable, 'worker_id' | 'workflow_depth'> & { count: number })[]> {
  return (await selectWorkflowCounts(db, {})).map((row) => ({ ...row, count: Number(row.count) }));
}

/** Lists the runs of all accounts that occupy a slot: never more than the workers have slots. */
export function listSlotHolders(db: Reader): Promise<SlotHolder[]> {
  return selectSlotHolders(db, {});
}

const selectSlotHolders = prepareStatement(
  (db) =>
    db
      .selectFrom('runs')
      .select(SLOT_HOLDER_COLUMNS)
      .where('status', '=', RUNNING)
      .where('worker_id', 'is not', null)
      .where('slot_released_at', 'is', null),
  { isReusable: true },
);

const ACTIVE_COLUMNS = [
  'id',
  'user_email',
  'name',
  'description',
  'status',
  'created_at',
  'initiated_at',
  'application_id',
  'application_uid',
  'instance_id',
  'version_id',
  'execution_class',
  'max_duration',
  'priority',
  'queuing_disabled',
  'attempt',
  'host_fault',
  'retry_at',
  'account_id',
  'required_labels',
  'required_licenses',
  'api_access',
  'workflow_depth',
] as const;

export type ActiveRunRow = Pick<RunsTable, (typeof ACTIVE_COLUMNS)[number]>;

/** The running runs of an account, and some of its queued runs. */
export interface ActiveRuns {
  running: ActiveRunRow[];
  queued: ActiveRunRow[];
}

const selectActivePart = prepareStatement((db, part: LanePart) =>
  selectLanePart(db, part).select(ACTIVE_COLUMNS),
);

/** The next runs of an account. `isWhole`: no further ones are queued. */
export interface NextActiveRuns extends ActiveRuns {
  isWhole: boolean;
}

/**
 * Lists the running runs of an account, and the first of its queued runs in the order in which they start. The queued ones are
 * read first: a run that is claimed between the statements is in both lists, and counts as running. A longer queue is read by
 * its lanes, which may be more than can be listed, so some of its first runs may be missing.
 */
export async function listNextActiveRuns(
  db: Reader,
  { account, limit }: { account: AccountId; limit: number },
  now: number,
): Promise<NextActiveRuns> {
  const all = await listActiveRuns(db, account, { after: null, limit });
  const isWhole = all.queued.length < limit;
  const queued = isWhole
    ? orderFairly(all.queued, await readSlotUse(db, now))
    : await readInOrder(db, {
        lanes: await listLanes(db, { account }),
        ...{ read: (part) => selectActivePart(db, part), limit, now },
      });
  const { running } = await listActiveRuns(db, account, { after: null, limit: 0 });
  const started = new Set(running.map(({ id }) => id));
  return { running, queued: queued.filter(({ id }) => !started.has(id)), isWhole };
}

/**
 * Lists the running runs of an account, and a page of its queued runs, each by priority and age. One statement, because a run
 * that is claimed between two statements would be missed. There are never more running runs than slots and workflows that
 * wait: an ensemble run, which has no worker, is omitted, and its child runs are listed instead.
 */
export async function listActiveRuns(
  db: Reader,
  account: AccountId,
  page: { after: QueuePosition | null; limit: number },
): Promise<ActiveRuns> {
  let waiting = db
    .selectFrom('runs')
    .select(ACTIVE_COLUMNS)
    .where('status', '=', QUEUED)
    .where('account_id', '=', account)
    .orderBy('priority')
    .orderBy('created_at')
    .orderBy('id')
    .limit(page.limit);
  if (page.after) waiting = waiting.where(isLater(page.after));
  const rows = await db
    .selectFrom(waiting.as('waiting'))
    .select(ACTIVE_COLUMNS)
    .unionAll(
      db
        .selectFrom('runs')
        .select(ACTIVE_COLUMNS)
        .where('status', '=', RUNNING)
        .where('worker_id', 'is not', null)
        .where('account_id', '=', account),
    )
    .execute();
  rows.sort(comparePositions);
  return {
    running: rows.filter((row) => row.status === 'running'),
    queued: rows.filter((row) => row.status === 'queued'),
  };
}
