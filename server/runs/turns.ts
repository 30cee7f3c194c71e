/**
 * Whose turn it is. One order for everything that waits: lowest number of priority, then oldest, then id; and every
 * statement that asks about it: what competes for slots, who stands before whom, what an account has in the queue.
 */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { AccountId, RunId } from '@switchyard/contract/ids.ts';
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Reader } from '../database/database.ts';
import { prepared } from '../database/prepared.ts';
import type { Busy } from '../queue/pools.ts';
import type { RunsTable } from './schema.ts';

/** In the text of the statement, because the planner takes a partial index only for a status it can see. */
const QUEUED = sql.lit<'queued'>('queued');
export const RUNNING = sql.lit<'running'>('running');

/** Where a run stands: the same when it is queued again, another when it is given another priority. */
export type Turn = Pick<RunsTable, 'id' | 'priority' | 'created_at'>;

export function byTurn(one: Turn, other: Turn): number {
  return (
    one.priority - other.priority ||
    one.created_at - other.created_at ||
    (one.id === other.id ? 0 : one.id < other.id ? -1 : 1)
  );
}

function isBefore({ priority, created_at, id }: Turn): Expression<SqlBool> {
  return sql<SqlBool>`(priority, created_at, id) < (${priority}, ${created_at}, ${id})`;
}

function isLater({ priority, created_at, id }: Turn): Expression<SqlBool> {
  return sql<SqlBool>`(priority, created_at, id) > (${priority}, ${created_at}, ${id})`;
}

/** What waits in a class, in the order of turns, which is that of the small index of queued runs. */
export function inLine(db: Reader, name: ExecutionClass) {
  return db
    .selectFrom('runs')
    .where('status', '=', QUEUED)
    .where('execution_class', '=', name)
    .orderBy('priority')
    .orderBy('created_at')
    .orderBy('id');
}

/** How many runs wait in each class that any wait in, and since when: a scan of the small index of queued runs. */
export async function countQueue(
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

export interface Load {
  /** What executes, of every class. */
  busy: Busy[];
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
  asked: { classes: readonly ExecutionClass[]; before?: Turn; bound: number },
): Promise<Load> {
  const { before, bound } = asked;
  const kind = `${before ? 'before' : 'all'} ${asked.classes.join()}`;
  let select = loads.get(kind);
  if (!select) {
    select = prepared(loadOf(asked.classes, before !== undefined));
    loads.set(kind, select);
  }
  const { id, priority, created_at } = before ?? NO_TURN;
  const found = await select(db, { bound, id, priority, created_at });
  const rows = found.map((row) => ({ ...row, count: Number(row.count) }));
  const queued = rows.filter((row) => row.status === 'queued').reduce((sum, row) => sum + row.count, 0);
  return { busy: rows.filter((row) => row.status === 'running'), queued: Math.min(queued, bound) };
}

export type Holder = Pick<
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
export function listHolders(db: Reader): Promise<Holder[]> {
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
const loads = new Map<string, (db: Reader, values: Turn & { bound: number }) => Promise<LoadRow[]>>();
const NO_TURN: Turn = { id: '' as RunId, priority: 0, created_at: 0 };

const loadOf =
  (classes: readonly ExecutionClass[], isOfOne: boolean) =>
  (db: Reader, { bound, ...before }: Turn & { bound: number }) => {
    // The run of an ensemble has no worker and takes no slot: those that it consists of do.
    let query = db
      .selectFrom('runs')
      .select((eb) => ['status', 'worker_id', 'execution_class', eb.fn.countAll().as('count')])
      .where('status', '=', RUNNING)
      .where('worker_id', 'is not', null)
      .groupBy(['status', 'worker_id', 'execution_class']);
    for (const name of classes) {
      // In order, or PostgreSQL may read every queued run to find the first ones.
      let ahead = inLine(db, name).select('execution_class').limit(bound);
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
export async function listNext(
  db: Reader,
  classes: readonly ExecutionClass[],
  limit: number,
): Promise<(Turn & Pick<RunsTable, 'execution_class'>)[]> {
  const found: (Turn & Pick<RunsTable, 'execution_class'>)[] = [];
  for (const name of classes) {
    const rows = await inLine(db, name)
      .select(['id', 'priority', 'created_at', 'execution_class'])
      .limit(limit)
      .execute();
    found.push(...rows);
  }
  return found.sort(byTurn);
}

const SHOWN = [
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

export type Active = Pick<RunsTable, (typeof SHOWN)[number]>;

/**
 * What runs, and what waits after the turn, of one account, each in the order of turns. One statement, because a run that
 * is claimed between two would be missed. There are never more running than the workers have slots: the run of an ensemble,
 * which has no worker, is left out, and those that it consists of stand for it.
 */
export async function listActive(
  db: Reader,
  account: AccountId,
  page: { after: Turn | null; limit: number },
): Promise<{ running: Active[]; queued: Active[] }> {
  let waiting = db
    .selectFrom('runs')
    .select(SHOWN)
    .where('status', '=', QUEUED)
    .where('account_id', '=', account)
    .orderBy('priority')
    .orderBy('created_at')
    .orderBy('id')
    .limit(page.limit);
  if (page.after) waiting = waiting.where(isLater(page.after));
  const rows = await db
    .selectFrom(waiting.as('waiting'))
    .select(SHOWN)
    .unionAll(
      db
        .selectFrom('runs')
        .select(SHOWN)
        .where('status', '=', RUNNING)
        .where('worker_id', 'is not', null)
        .where('account_id', '=', account),
    )
    .execute();
  rows.sort(byTurn);
  return {
    running: rows.filter((row) => row.status === 'running'),
    queued: rows.filter((row) => row.status === 'queued'),
  };
}

export function readTurn(priority: number, createdAt: number, id: string): Turn {
  return { priority, created_at: createdAt, id: id as RunId };
}
