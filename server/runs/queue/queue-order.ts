/**
 * Whose turn it is. One order for everything that waits: lowest number of priority, then oldest, then id; and every
 * statement that asks about it: what competes for slots, who stands before whom, what an account has in the queue.
 */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/database.ts';
import { prepareStatement } from '../../database/prepared-statements.ts';
import type { BusySlotCount } from '../../workers/slots.ts';
import type { RunsTable } from '../store/schema.ts';
import { QUEUED, RUNNING } from '../store/status-literals.ts';

/** Where a run stands: the same when it is queued again, another when it is given another priority. */
export type QueuePosition = Pick<RunsTable, 'id' | 'priority' | 'created_at'>;

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

/** What waits in a class, in the order of turns, which is that of the small index of queued runs. */
export function selectQueued(db: Reader, name: ExecutionClass) {
  return db
    .selectFrom('runs')
    .where('status', '=', QUEUED)
    .where('execution_class', '=', name)
    .orderBy('priority')
    .orderBy('created_at')
    .orderBy('id');
}

/** How many runs wait in each class that any wait in, and since when: a scan of the small index of queued runs. */
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
  /** What executes, of every class. */
  busy: BusySlotCount[];
  /** How many wait, counted to the bound that was asked for. */
  queued: number;
}

/**
 * What executes, and how many runs of the classes wait, or wait before a run: counted class by class from the small index,
 * and to a bound, because the queue may be as long as anyone makes it. One statement, because a run that is claimed
 * between two would be counted twice or not at all.
 */
export async function countLoad(
  db: Reader,
  asked: { classes: readonly ExecutionClass[]; before?: QueuePosition; bound: number },
): Promise<QueueLoad> {
  const { before, bound } = asked;
  const kind = `${before ? 'before' : 'all'} ${asked.classes.join()}`;
  let select = loads.get(kind);
  if (!select) {
    select = prepareStatement(loadOf(asked.classes, before !== undefined));
    loads.set(kind, select);
  }
  const { id, priority, created_at } = before ?? NO_POSITION;
  const found = await select(db, { bound, id, priority, created_at });
  const rows = found.map((row) => ({ ...row, count: Number(row.count) }));
  const queued = rows.filter((row) => row.status === 'queued').reduce((sum, row) => sum + row.count, 0);
  return { busy: rows.filter((row) => row.status === 'running'), queued: Math.min(queued, bound) };
}

export type SlotHolder = Pick<
  RunsTable,
  | 'id'
  | 'account_id'
  | 'application_id'
  | 'worker_id'
  | 'execution_class'
  | 'initiated_at'
  | 'network'
  | 'containment'
>;

/** The runs that take a slot, of every account: never more than the workers have slots. */
export function listSlotHolders(db: Reader): Promise<SlotHolder[]> {
  return db
    .selectFrom('runs')
    .select([
      'id',
      'account_id',
      'application_id',
      'worker_id',
      'execution_class',
      'initiated_at',
      'network',
      'containment',
    ])
    .where('status', '=', RUNNING)
    .where('worker_id', 'is not', null)
    .execute();
}

type LoadRow = Pick<RunsTable, 'status' | 'execution_class' | 'worker_id'> & {
  count: string | number | bigint;
};
/** By what is asked for: the same few classes again and again, whose statement takes longer to build than to execute. */
const loads = new Map<
  string,
  (db: Reader, values: QueuePosition & { bound: number }) => Promise<LoadRow[]>
>();
const NO_POSITION: QueuePosition = { id: '' as RunId, priority: 0, created_at: 0 };

const loadOf =
  (classes: readonly ExecutionClass[], isOfOne: boolean) =>
  (db: Reader, { bound, ...before }: QueuePosition & { bound: number }) => {
    // The run of an ensemble has no worker and takes no slot: those that it consists of do.
    let query = db
      .selectFrom('runs')
      .select((eb) => ['status', 'worker_id', 'execution_class', eb.fn.countAll().as('count')])
      .where('status', '=', RUNNING)
      .where('worker_id', 'is not', null)
      .groupBy(['status', 'worker_id', 'execution_class']);
    for (const name of classes) {
      // In order, or PostgreSQL may read every queued run to find the first ones.
      let ahead = selectQueued(db, name).select('execution_class').limit(bound);
      if (isOfOne) ahead = ahead.where(isBefore(before));
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
  };

/** The first of what waits in each of the classes, in the order of turns. */
export async function listNextQueued(
  db: Reader,
  classes: readonly ExecutionClass[],
  limit: number,
): Promise<(QueuePosition & Pick<RunsTable, 'execution_class'>)[]> {
  const found: (QueuePosition & Pick<RunsTable, 'execution_class'>)[] = [];
  for (const name of classes) {
    const rows = await selectQueued(db, name)
      .select(['id', 'priority', 'created_at', 'execution_class'])
      .limit(limit)
      .execute();
    found.push(...rows);
  }
  return found.sort(compareQueueOrder);
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
  'instance_id',
  'version_id',
  'execution_class',
  'priority',
  'queuing_disabled',
  'attempt',
  'host_fault',
  'retry_at',
] as const;

export type ActiveRunRow = Pick<RunsTable, (typeof ACTIVE_COLUMNS)[number]>;

/**
 * What runs, and what waits after the turn, of one account, each in the order of turns. One statement, because a run that
 * is claimed between two would be missed. There are never more running than the workers have slots: the run of an ensemble,
 * which has no worker, is left out, and those that it consists of stand for it.
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

export function createQueuePosition(priority: number, createdAt: number, id: string): QueuePosition {
  return { priority, created_at: createdAt, id: id as RunId };
}
