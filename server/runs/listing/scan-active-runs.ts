/** Finds queued and running runs by their rows: they have no values in `run_values` yet. */
import { setImmediate } from 'node:timers/promises';
import { type SqlBool, sql } from 'kysely';
import type { Database, Reader } from '../../platform/database/database.ts';
import { prepareVariants } from '../../platform/database/prepared-statements.ts';
import { QUEUED, RUNNING } from '../store/status-literals.ts';
import { encodeText } from '../values/encode-value.ts';
import { INDEXED_COLUMNS, listFieldColumns, type PartialRun, TAG_FIELD } from '../values/list-run-values.ts';
import { findRowRule, formatRowRule, type RuleShape, type RuleValues } from './active-run-rules.ts';
import {
  comparePositions,
  type FoundRun,
  type RunCondition,
  type RunFilter,
  type RunPosition,
  satisfiesAll,
} from './run-filter.ts';

/**
 * Queued runs that a chunk reads: most queues are one chunk. It takes PostgreSQL 0.2 ms if the filter excludes most of them,
 * and 0.5 ms otherwise.
 */
const CHUNK_RUNS = 400;
const CHUNKS_MAX = 25;
/** The columns of each row. A row has only the others that the filter needs, because PostgreSQL's client reads each as a text. */
const OWN_COLUMNS = ['id', 'created_at', 'status'] as const;
/** Of more columns a row has all, so that there are few statements. */
const CHOSEN_COLUMNS_MAX = 3;

interface ActiveScan {
  found: FoundRun[];
  /** The position up to which the scan has read; null for the end. */
  through: RunPosition | null;
}

/** The shape of a statement that reads a chunk. */
interface Chunk {
  kind: Database['kind'];
  isDescending: boolean;
  /** The columns of its rows beside OWN_COLUMNS. */
  columns: readonly (typeof INDEXED_COLUMNS)[number][];
  rule: RuleShape;
}

/** Finds active runs after the position that satisfy the filter, in the order of their creation. */
export async function scanActiveRuns(
  { readInOrder: db, kind }: Pick<Database, 'readInOrder' | 'kind'>,
  applicationUid: string,
  filter: RunFilter,
  { after, count }: { after: RunPosition | null; count: number },
): Promise<ActiveScan> {
  const { isDescending, start, end } = filter;
  const tags = filter.conditions.find(({ field }) => field === TAG_FIELD);
  const conditions = filter.conditions.filter((condition) => condition !== tags);
  const rule = findRowRule(conditions);
  const chunk = { kind, isDescending, columns: chooseColumns(conditions), rule: rule.shape };
  const compare = (one: RunPosition, other: RunPosition): number =>
    comparePositions(one, other, isDescending);
  const found: FoundRun[] = [];
  let position = after ?? (isDescending ? { at: end, id: '' } : { at: start, id: '' });
  for (let chunks = 0; chunks < CHUNKS_MAX; chunks += 1) {
    if (chunks > 0) await setImmediate();
    const { at, id } = position;
    const rows = await listActive(db, chunk, { applicationUid, start, end, at, id, ...rule.values });
    const matched = rows.filter((run) => run.is_end === 0 && satisfiesAll(run, conditions));
    const chosen = tags ? await filterTagged(db, matched, tags) : matched;
    const positions = chosen.map((run) => ({ id: run.id, at: run.created_at, status: run.status }));
    // Running runs are as many as there are slots, so the first chunk has all of them.
    const isNew = (one: (typeof positions)[number]): boolean =>
      one.status === 'queued' || (chunks === 0 && (after === null || compare(after, one) < 0));
    found.push(...positions.filter(isNew).map(({ id, at }) => ({ id, at })));
    const last = rows.find(({ is_end }) => is_end === 1);
    const through = last ? { at: last.created_at, id: last.id } : null;
    if (through === null || found.length >= count || chunks === CHUNKS_MAX - 1) {
      const all = found.filter((one) => through === null || compare(one, through) <= 0);
      return { found: all.sort(compare), through };
    }
    position = through;
  }
  return { found, through: position };
}

function chooseColumns(conditions: readonly RunCondition[]): Chunk['columns'] {
  const needed = new Set(conditions.flatMap(({ field }) => listFieldColumns(field)));
  const others = INDEXED_COLUMNS.filter((column) => !OWN_COLUMNS.some((own) => own === column));
  return needed.size > CHOSEN_COLUMNS_MAX ? others : others.filter((column) => needed.has(column));
}

/** Returns the runs that have one of the tags. */
async function filterTagged<Run extends PartialRun>(
  db: Reader,
  runs: readonly Run[],
  { intervals }: RunCondition,
): Promise<Run[]> {
  if (runs.length === 0) return [];
  const ids = runs.map(({ id }) => id);
  const rows = await db.selectFrom('run_tags').selectAll().where('run_id', 'in', ids).execute();
  const values = new Set(intervals.map(({ from }) => from));
  const tagged = new Set(rows.filter(({ tag }) => values.has(encodeText(tag))).map(({ run_id }) => run_id));
  return runs.filter(({ id }) => tagged.has(id));
}

type ChunkValues = {
  applicationUid: string;
  start: number;
  end: number;
  at: number;
  id: string;
} & RuleValues;

/**
 * Lists running runs of the application, and the queued ones of the next chunk after the position, as far as the rule includes
 * them. The last run of a whole chunk is there again, as its end. It is one statement, so that a run that starts or is requeued
 * meanwhile is in one of both. Only the index runs_queued_of_application has its expression. The index of running runs is
 * partial: see findUnfinishedRunOfVersion.
 */
const listActive = prepareVariants(
  ({ kind, isDescending, columns, rule }: Chunk) =>
    [kind, isDescending, columns, rule.kind, rule.column, rule.count].join(' '),
  (db, { kind, isDescending, columns, rule }: Chunk, values: ChunkValues) => {
    const { applicationUid, start, end, at, id } = values;
    const direction = isDescending ? 'desc' : 'asc';
    const comparison = sql.raw(isDescending ? '<' : '>');
    const isIncluded = formatRowRule(rule, kind, values);
    const selectRuns = (reader: Pick<Reader, 'selectFrom'>) =>
      reader
        .selectFrom('runs')
        .select([...OWN_COLUMNS, ...columns])
        .select(sql<0 | 1>`0`.as('is_end'))
        .where('created_at', '>=', start)
        .where('created_at', '<', end)
        .where(sql<SqlBool>`application_uid || '' = ${applicationUid}`);
    return db
      .with(
        (cte) => cte('queued').materialized(),
        (query) =>
          selectRuns(query)
            .where('status', '=', QUEUED)
            .where(sql<SqlBool>`(created_at, id) ${comparison} (${at}, ${id})`)
            .orderBy('created_at', direction)
            .orderBy('id', direction)
            .limit(sql.lit(CHUNK_RUNS)),
      )
      .selectFrom(selectRuns(db).where('status', '=', RUNNING).where(isIncluded).as('running'))
      .selectAll()
      .unionAll((eb) => eb.selectFrom('queued').selectAll().where(isIncluded))
      .unionAll((eb) =>
        eb
          .selectFrom(
            eb
              .selectFrom('queued')
              .selectAll()
              .limit(sql.lit(1))
              .offset(sql.lit(CHUNK_RUNS - 1))
              .as('last'),
          )
          .select([...OWN_COLUMNS, ...columns, sql<0 | 1>`1`.as('is_end')]),
      );
  },
);
