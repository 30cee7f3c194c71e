/** Finds queued and running runs by their rows: they have no values in `run_values` yet. */
import { setImmediate } from 'node:timers/promises';
import { PRIORITY_MAX, PRIORITY_MIN } from '@switchyard/contract/limits.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/database.ts';
import { QUEUED, RUNNING } from '../store/status-literals.ts';
import { INDEXED_COLUMNS, type IndexedRun } from '../values/list-run-values.ts';
import {
  comparePositions,
  type FoundRun,
  type RunFilter,
  type RunPosition,
  satisfiesAll,
} from './run-filter.ts';

/** Queued runs of one priority that a chunk reads. */
const CHUNK_RUNS = 200;
const CHUNKS_MAX = 25;
const PRIORITIES = Array.from({ length: PRIORITY_MAX - PRIORITY_MIN + 1 }, (_, at) => PRIORITY_MIN + at);

/** An application and its account. */
export interface RunScope {
  applicationUid: string;
  account: AccountId;
}

interface ActiveScan {
  found: FoundRun[];
  /** The position up to which the scan has read; null for the end. */
  through: RunPosition | null;
}

/** Finds active runs after the position that satisfy the filter, in the order of their creation. */
export async function scanActiveRuns(
  db: Reader,
  scope: RunScope,
  filter: RunFilter,
  { after, count }: { after: RunPosition | null; count: number },
): Promise<ActiveScan> {
  const { isDescending, start, end, conditions } = filter;
  const toPosition = ({ id, created_at }: IndexedRun): FoundRun => ({ id, at: created_at });
  const isFound = (run: IndexedRun): boolean =>
    run.application_uid === scope.applicationUid &&
    run.created_at >= start &&
    run.created_at < end &&
    satisfiesAll(run, conditions);
  const compare = (one: RunPosition, other: RunPosition): number =>
    comparePositions(one, other, isDescending);
  // Running runs are as many as there are slots, so they are read at once.
  const running = (await listRunning(db, scope))
    .filter(isFound)
    .map(toPosition)
    .filter((position) => after === null || compare(after, position) < 0);
  const found: FoundRun[] = [];
  let position = after ?? (isDescending ? { at: end, id: '' } : { at: start, id: '' });
  for (let chunk = 0; chunk < CHUNKS_MAX; chunk += 1) {
    if (chunk > 0) await setImmediate();
    const rows = await listQueued(db, scope.account, position, isDescending);
    const through = findCompletePosition(rows, isDescending);
    const complete = rows.filter((row) => through === null || compare(toPosition(row), through) <= 0);
    found.push(...complete.filter(isFound).map(toPosition));
    const isLast = through === null || found.length >= count;
    if (isLast || chunk === CHUNKS_MAX - 1) {
      const all = [...found, ...running].filter((one) => through === null || compare(one, through) <= 0);
      return { found: all.sort(compare), through };
    }
    position = through;
  }
  return { found, through: position };
}

/** Returns the position up to which a chunk has the runs of every priority; null if it has all. */
function findCompletePosition(
  rows: readonly (IndexedRun & { priority: number })[],
  isDescending: boolean,
): RunPosition | null {
  const ends = PRIORITIES.flatMap((priority) => {
    const own = rows
      .filter((row) => row.priority === priority)
      .map(({ id, created_at }) => ({ id, at: created_at }));
    const end = own.sort((one, other) => comparePositions(one, other, isDescending)).at(-1);
    return end && own.length === CHUNK_RUNS ? [end] : [];
  });
  return ends.sort((one, other) => comparePositions(one, other, isDescending))[0] ?? null;
}

/** Lists the running runs of an application, from the partial index of running runs: see findUnfinishedRunOfVersion. */
function listRunning(db: Reader, { applicationUid }: RunScope) {
  return db
    .selectFrom('runs')
    .select(INDEXED_COLUMNS)
    .where(sql<SqlBool>`runs.status = ${RUNNING}`)
    .where(sql<SqlBool>`runs.application_uid || '' = ${applicationUid}`)
    .execute();
}

/** Lists queued runs of the account after the position, a chunk of each priority: the index orders each by time. */
function listQueued(db: Reader, account: AccountId, position: RunPosition, isDescending: boolean) {
  const direction = isDescending ? 'desc' : 'asc';
  const comparison = sql.raw(isDescending ? '<' : '>');
  const select = (priority: number) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('runs')
          .select([...INDEXED_COLUMNS, 'priority'])
          .where('status', '=', QUEUED)
          .where('account_id', '=', account)
          .where('priority', '=', priority)
          .where(sql<SqlBool>`(created_at, id) ${comparison} (${position.at}, ${position.id})`)
          .orderBy('created_at', direction)
          .orderBy('id', direction)
          .limit(CHUNK_RUNS)
          .as('queued'),
      )
      .selectAll();
  const [first = PRIORITY_MIN, ...others] = PRIORITIES;
  return others.reduce((query, priority) => query.unionAll(select(priority)), select(first)).execute();
}
