/**
 * The queue order: by priority, the lowest number first, then by age, then by id. All queries that depend on this order are
 * here. They select the runs that compete for slots, the runs before a run, and the queue of an account.
 */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/database.ts';
import { prepareStatement, prepareVariants } from '../../database/prepared-statements.ts';
import type { BusySlotCount } from '../../workers/slots.ts';
import type { RunsTable } from '../store/schema.ts';
import { QUEUED, RUNNING } from '../store/status-literals.ts';

/** The position of a run. It stays when the run is requeued, and changes with its priority. */
export type QueuePosition = Pick<RunsTable, 'id' | 'priority' | 'created_at'>;

/** Compares two positions for sort(): negative when the first run comes first. */
export function compareQueueOrder(one: QueuePosition, other: QueuePosition): number {
  return (
    one.priority - other.priority ||
    one.created_at - other.created_at ||
    (one.id === other.id ? 0 : one.id < other.id ? -1 : 1)
  );
}

function isBefore({ priority, created_at, id }: QueuePosition): Expression<SqlBool> {
  return sql<SqlBool>`(priority, created_at, id) < (${priority}, ${created_at}, ${id})`;
}

function isLater({ priority, created_at, id }: QueuePosition): Expression<SqlBool> {
  return sql<SqlBool>`(priority, created_at, id) > (${priority}, ${created_at}, ${id})`;
}

/** Selects the queued runs of a class in queue order, which is the order of the partial index of queued runs. */
export function selectQueued(db: Reader, name: ExecutionClass) {
  return db
    .selectFrom('runs')
    .where('status', '=', QUEUED)
    .where('execution_class', '=', name)
    .orderBy('priority')
    .orderBy('created_at')
    .orderBy('id');
}

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

export interface QueueLoad {
  /** The busy slots of every class. */
  busy: BusySlotCount[];
  /** The number of queued runs, at most the requested bound. */
  queued: number;
}

/**
 * Counts the busy slots and the queued runs of the classes; with `before`, only the runs before that position. Counts class
 * by class from the partial index, and up to a bound, because the queue has no maximum length. One statement, because a run
 * that is claimed between two statements would be counted twice or not at all.
 */
export async function countLoad(
  db: Reader,
  { classes, before, bound }: { classes: readonly ExecutionClass[]; before?: QueuePosition; bound: number },
): Promise<QueueLoad> {
  const { id, priority, created_at } = before ?? NO_POSITION;
  const variant = { classes, isBefore: before !== undefined };
  const counts = await selectLoad(db, variant, { bound, id, priority, created_at });
  const rows = counts.map((row) => ({ ...row, count: Number(row.count) }));
  const queued = rows.filter((row) => row.status === 'queued').reduce((sum, row) => sum + row.count, 0);
  return { busy: rows.filter((row) => row.status === 'running'), queued: Math.min(queued, bound) };
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

const NO_POSITION: QueuePosition = createQueuePosition(0, 0, '');

interface LoadVariant {
  classes: readonly ExecutionClass[];
  /** True: counts only the queued runs before a position. */
  isBefore: boolean;
}

const selectLoad = prepareVariants(
  ({ classes, isBefore }: LoadVariant) => `${isBefore ? 'before' : 'all'} ${classes.join()}`,
  (db, variant: LoadVariant, { bound, ...before }: QueuePosition & { bound: number }) => {
    // An ensemble run has no worker and occupies no slot; its child runs do. Nor does a workflow that waits.
    let query = db
      .selectFrom('runs')
      .select((eb) => ['status', 'worker_id', 'execution_class', eb.fn.countAll().as('count')])
      .where('status', '=', RUNNING)
      .where('worker_id', 'is not', null)
      .where('slot_released_at', 'is', null)
      .groupBy(['status', 'worker_id', 'execution_class']);
    for (const name of variant.classes) {
      // Ordered, or PostgreSQL may read every queued run to find the first ones.
      let ahead = selectQueued(db, name).select('execution_class').limit(bound);
      if (variant.isBefore) ahead = ahead.where(isBefore(before));
      query = query.unionAll(
        db
          .selectFrom(ahead.as('ahead'))
          .select((eb) => [
            QUEUED.as('status'),
            sql<string | null>`null`.as('worker_id'),
            'execution_class',
            eb.fn.countAll().as('count'),
          ])
          .groupBy('execution_class'),
      );
    }
    return query;
  },
  { isReusable: true },
);

/** Lists the first queued runs of each class, at most `limit` of each, in queue order. */
export async function listNextQueued(
  db: Reader,
  classes: readonly ExecutionClass[],
  limit: number,
): Promise<(QueuePosition & Pick<RunsTable, 'execution_class'>)[]> {
  const listed: (QueuePosition & Pick<RunsTable, 'execution_class'>)[] = [];
  for (const name of classes) {
    const rows = await selectQueued(db, name)
      .select(['id', 'priority', 'created_at', 'execution_class'])
      .limit(limit)
      .execute();
    listed.push(...rows);
  }
  return listed.sort(compareQueueOrder);
}

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

/**
 * Lists the running runs of an account, and a page of its queued runs, each in queue order. One statement, because a run
 * that is claimed between two statements would be missed. There are never more running runs than slots and workflows that
 * wait: an ensemble run, which has no worker, is omitted, and its child runs are listed instead.
 */
export async function listActiveRuns(
  db: Reader,
  account: AccountId,
  page: { after: QueuePosition | null; limit: number },
): Promise<{ running: ActiveRunRow[]; queued: ActiveRunRow[] }> {
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
  rows.sort(compareQueueOrder);
  return {
    running: rows.filter((row) => row.status === 'running'),
    queued: rows.filter((row) => row.status === 'queued'),
  };
}

/** Creates the position of a run; `createdAt` is in milliseconds. */
export function createQueuePosition(priority: number, createdAt: number, id: string): QueuePosition {
  return { priority, created_at: createdAt, id: id as RunId };
}
