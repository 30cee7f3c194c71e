/** Finds queued and running runs by their rows: they have no values in `run_values` yet. */
import { setImmediate } from 'node:timers/promises';
import { PAGE_ITEMS_MAX, PRIORITY_MAX, PRIORITY_MIN } from '@switchyard/contract/limits.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/database.ts';
import { prepareVariants } from '../../database/prepared-statements.ts';
import { QUEUED, RUNNING } from '../store/status-literals.ts';
import { encodeText } from '../values/encode-value.ts';
import { INDEXED_COLUMNS, type IndexedRun, TAG_FIELD } from '../values/list-run-values.ts';
import {
  comparePositions,
  type FoundRun,
  type RunCondition,
  type RunFilter,
  type RunPosition,
  satisfiesAll,
} from './run-filter.ts';

/** Queued runs of one priority that the first chunk reads: a page and one more, all that a frequent filter needs. */
const FIRST_CHUNK_RUNS = PAGE_ITEMS_MAX + 1;
/** Queued runs of one priority that a later chunk reads. */
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

/** The direction of a chunk, and the queued runs of one priority that it reads. */
interface Chunk {
  isDescending: boolean;
  size: number;
}

/** Finds active runs after the position that satisfy the filter, in the order of their creation. */
export async function scanActiveRuns(
  db: Reader,
  scope: RunScope,
  filter: RunFilter,
  { after, count }: { after: RunPosition | null; count: number },
): Promise<ActiveScan> {
  const { isDescending, start, end } = filter;
  const tags = filter.conditions.find(({ field }) => field === TAG_FIELD);
  const conditions = filter.conditions.filter((condition) => condition !== tags);
  const toPosition = ({ id, created_at }: IndexedRun): FoundRun => ({ id, at: created_at });
  const isMatched = (run: IndexedRun): boolean =>
    run.application_uid === scope.applicationUid &&
    run.created_at >= start &&
    run.created_at < end &&
    satisfiesAll(run, conditions);
  const compare = (one: RunPosition, other: RunPosition): number =>
    comparePositions(one, other, isDescending);
  const found: FoundRun[] = [];
  let position = after ?? (isDescending ? { at: end, id: '' } : { at: start, id: '' });
  for (let chunk = 0; chunk < CHUNKS_MAX; chunk += 1) {
    if (chunk > 0) await setImmediate();
    const size = chunk === 0 ? FIRST_CHUNK_RUNS : CHUNK_RUNS;
    const rows = await listActive(db, { isDescending, size }, { ...scope, at: position.at, id: position.id });
    const matched = rows.filter(isMatched);
    const ids = new Set((tags ? await filterTagged(db, matched, tags) : matched).map(({ id }) => id));
    const isFound = ({ id }: IndexedRun): boolean => ids.has(id);
    const queued = rows.filter(({ status }) => status === 'queued');
    const through = findCompletePosition(queued, { isDescending, size });
    const complete = queued.filter((row) => through === null || compare(toPosition(row), through) <= 0);
    found.push(...complete.filter(isFound).map(toPosition));
    if (chunk === 0) {
      // Running runs are as many as there are slots, so they are read at once.
      const running = rows.filter((row) => row.status !== 'queued' && isFound(row)).map(toPosition);
      found.push(...running.filter((one) => after === null || compare(after, one) < 0));
    }
    const isLast = through === null || found.length >= count;
    if (isLast || chunk === CHUNKS_MAX - 1) {
      const all = found.filter((one) => through === null || compare(one, through) <= 0);
      return { found: all.sort(compare), through };
    }
    position = through;
  }
  return { found, through: position };
}

/** Returns the runs that have one of the tags. */
async function filterTagged(
  db: Reader,
  runs: readonly IndexedRun[],
  { intervals }: RunCondition,
): Promise<IndexedRun[]> {
  if (runs.length === 0) return [];
  const ids = runs.map(({ id }) => id);
  const rows = await db.selectFrom('run_tags').selectAll().where('run_id', 'in', ids).execute();
  const values = new Set(intervals.map(({ from }) => from));
  const tagged = new Set(rows.filter(({ tag }) => values.has(encodeText(tag))).map(({ run_id }) => run_id));
  return runs.filter(({ id }) => tagged.has(id));
}

/** Returns the position up to which a chunk has the runs of every priority; null if it has all. */
function findCompletePosition(
  rows: readonly (IndexedRun & { priority: number })[],
  { isDescending, size }: Chunk,
): RunPosition | null {
  const ends = PRIORITIES.flatMap((priority) => {
    const own = rows
      .filter((row) => row.priority === priority)
      .map(({ id, created_at }) => ({ id, at: created_at }));
    const end = own.sort((one, other) => comparePositions(one, other, isDescending)).at(-1);
    return end && own.length === size ? [end] : [];
  });
  return ends.sort((one, other) => comparePositions(one, other, isDescending))[0] ?? null;
}

/**
 * Lists running runs of the application, and queued runs of the account after the position. Of these it lists a chunk of each
 * priority, because the index orders each by time. It is one statement, so that a run that starts or is requeued meanwhile
 * is in one of both. The index of running runs is partial: see findUnfinishedRunOfVersion.
 */
const listActive = prepareVariants(
  ({ isDescending, size }: Chunk) => `${isDescending} ${size}`,
  (
    db,
    { isDescending, size }: Chunk,
    { applicationUid, account, at, id }: RunScope & { at: number; id: string },
  ) => {
    const direction = isDescending ? 'desc' : 'asc';
    const comparison = sql.raw(isDescending ? '<' : '>');
    const selectQueued = (priority: number) =>
      db
        .selectFrom((eb) =>
          eb
            .selectFrom('runs')
            .select([...INDEXED_COLUMNS, 'priority'])
            .where('status', '=', QUEUED)
            .where('account_id', '=', account)
            .where('priority', '=', sql.lit(priority))
            .where(sql<SqlBool>`(created_at, id) ${comparison} (${at}, ${id})`)
            .orderBy('created_at', direction)
            .orderBy('id', direction)
            .limit(sql.lit(size))
            .as('queued'),
        )
        .selectAll();
    const running = db
      .selectFrom('runs')
      .select([...INDEXED_COLUMNS, 'priority'])
      .where(sql<SqlBool>`runs.status = ${RUNNING}`)
      .where(sql<SqlBool>`runs.application_uid || '' = ${applicationUid}`);
    return PRIORITIES.reduce((query, priority) => query.unionAll(selectQueued(priority)), running);
  },
);
