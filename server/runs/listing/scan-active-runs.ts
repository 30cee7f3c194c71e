/** Finds queued and running runs by their rows: they have no values in `run_values` yet. */
import { type SqlBool, sql } from 'kysely';
import type { Reader } from '../../platform/database/database.ts';
import { QUEUED, RUNNING } from '../store/status-literals.ts';
import { encodeText } from '../values/encode-value.ts';
import { INDEXED_COLUMNS, type IndexedRun, TAG_FIELD } from '../values/list-run-values.ts';
import {
  comparePositions,
  type RunCondition,
  type RunFilter,
  type RunPosition,
  satisfiesAll,
} from './run-filter.ts';
import type { Scan } from './walk.ts';

/** The queued runs of a chunk. Most queues are one chunk. */
const CHUNK_RUNS = 400;

/** Finds active runs of the next chunk that satisfy the filter, in the order of their creation. */
export async function readActiveRuns(
  db: Reader,
  applicationUid: string,
  filter: RunFilter,
  after: RunPosition | null,
): Promise<Scan> {
  const { isDescending } = filter;
  const compare = (one: RunPosition, other: RunPosition): number =>
    comparePositions(one, other, isDescending);
  const position = after ?? { at: isDescending ? filter.end : filter.start, id: '' };
  const rows = await selectActive(db, applicationUid, filter, position).execute();
  const active = rows.map((run) => ({ ...run, at: run.created_at }));
  const queued = active.filter(({ status }) => status === 'queued').sort(compare);
  const through = queued[CHUNK_RUNS - 1] ?? null;
  const isInChunk = (one: RunPosition): boolean =>
    (after === null || compare(after, one) < 0) && (through === null || compare(one, through) <= 0);
  const tags = filter.conditions.find(({ field }) => field === TAG_FIELD);
  const others = filter.conditions.filter((condition) => condition !== tags);
  const matched = active.filter((run) => isInChunk(run) && satisfiesAll(run, others)).sort(compare);
  const found = tags ? await filterTagged(db, matched, tags) : matched;
  const toPosition = ({ id, at }: (typeof active)[number]) => ({ id, at });
  return { found: found.map(toPosition), through: through && toPosition(through) };
}

/** Returns the runs that have one of the tags. */
async function filterTagged<Run extends Pick<IndexedRun, 'id'>>(
  db: Reader,
  runs: readonly Run[],
  { intervals }: RunCondition,
): Promise<readonly Run[]> {
  if (runs.length === 0) return runs;
  const ids = runs.map(({ id }) => id);
  const rows = await db.selectFrom('run_tags').selectAll().where('run_id', 'in', ids).execute();
  const values = new Set(intervals.map(({ from }) => from));
  const tagged = new Set(rows.filter(({ tag }) => values.has(encodeText(tag))).map(({ run_id }) => run_id));
  return runs.filter(({ id }) => tagged.has(id));
}

/**
 * Selects the running runs of the application, and the queued ones of the next chunk after the position. It is one statement,
 * so that a run that starts or is requeued meanwhile is in one of both. Only the index runs_queued_of_application has its
 * expression. The index of running runs is partial: see findUnfinishedRunOfVersion.
 */
function selectActive(
  db: Reader,
  applicationUid: string,
  { isDescending, start, end }: RunFilter,
  { at, id }: RunPosition,
) {
  const direction = isDescending ? 'desc' : 'asc';
  const comparison = sql.raw(isDescending ? '<' : '>');
  const active = db
    .selectFrom('runs')
    .select(INDEXED_COLUMNS)
    .where('created_at', '>=', start)
    .where('created_at', '<', end)
    .where(sql<SqlBool>`application_uid || '' = ${applicationUid}`);
  const queued = active
    .where('status', '=', QUEUED)
    .where(sql<SqlBool>`(created_at, id) ${comparison} (${at}, ${id})`)
    .orderBy('created_at', direction)
    .orderBy('id', direction)
    .limit(sql.lit(CHUNK_RUNS));
  return active.where('status', '=', RUNNING).unionAll(db.selectFrom(queued.as('queued')).selectAll());
}
