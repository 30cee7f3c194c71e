/** Statements on the runs of an experiment, for the experiment itself. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import { type ExpressionBuilder, sql } from 'kysely';
import type { Reader, Tables, Writer } from '../../platform/database/database.ts';
import { splitIntoBatches } from '../../platform/database/id-batches.ts';
import { isAfter } from '../../platform/database/list-order.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import { IS_REFUSED } from './planned-runs.ts';
import { LISTED_COLUMNS, type ListedRun } from './runs.ts';
import type { RunsTable } from './schema.ts';

const OF_EXPERIMENT = sql<boolean>`experiment_uid is not null`;

/** Lists a page of the runs of the experiment, newest first. */
export function listExperimentRuns(
  db: Reader,
  experimentUid: string,
  page: PageRequest,
): Promise<ListedRun[]> {
  let query = db
    .selectFrom('runs')
    .select(LISTED_COLUMNS)
    .where(OF_EXPERIMENT)
    .where('experiment_uid', '=', experimentUid)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (page.after) query = query.where(isAfter('runs', page.after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Lists names and descriptions of the newest runs: of a run that has ended, nothing else changes. */
export function listRunDescriptions(
  db: Reader,
  experimentUid: string,
  limit: number,
): Promise<Pick<RunsTable, 'id' | 'name' | 'description'>[]> {
  return db
    .selectFrom('runs')
    .select(['id', 'name', 'description'])
    .where(OF_EXPERIMENT)
    .where('experiment_uid', '=', experimentUid)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** The columns from which the results of an experiment are computed. */
const OBSERVED = [
  'id',
  'status',
  'created_at',
  'instance_id',
  'version_id',
  'input_id',
  'plan_unit_index',
  'parent_run_id',
  'labels',
  'statistics_status',
  'indicators',
  'user_email',
  'initiated_at',
  'start_conditions',
  'execution_ms',
  'definition_id',
  'rules_result',
  'executable_id',
  'options_summary',
  'execution_class',
  'network',
  'secrets_collection_id',
] as const;

/** A run as the results of an experiment read it. */
export interface ObservedRun extends Pick<RunsTable, (typeof OBSERVED)[number]> {
  /** Hash of the content of its input; null when it was removed. */
  input_sha256: string | null;
}

function selectObservedRuns(db: Reader) {
  return db
    .selectFrom('runs')
    .select(OBSERVED)
    .select((eb) =>
      eb
        .selectFrom('contents')
        .select('contents.sha256')
        .whereRef('contents.id', '=', 'runs.input_content_id')
        .as('input_sha256'),
    );
}

/** Lists runs of the experiment by id, after the given id. */
export function listObservedRuns(
  db: Reader,
  experimentUid: string,
  after: RunId | null,
  limit: number,
): Promise<ObservedRun[]> {
  let query = selectObservedRuns(db)
    .where(OF_EXPERIMENT)
    .where('experiment_uid', '=', experimentUid)
    .orderBy('id')
    .limit(limit);
  if (after) query = query.where('id', '>', after);
  return query.execute();
}

/** Returns the statistics blocks of those runs that have time series, in JSON, by the id of the run. */
export async function findRunSeries(db: Reader, ids: readonly RunId[]): Promise<Map<RunId, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('runs')
    .select(['id', 'statistics'])
    .where('id', 'in', ids)
    .where('statistics', 'like', '%"series_data"%')
    .execute();
  return new Map(rows.map(({ id, statistics }) => [id, statistics ?? '']));
}

/** Returns those of the runs that still exist, ordered by id. */
export function findObservedRuns(db: Reader, ids: readonly RunId[]): Promise<ObservedRun[]> {
  return ids.length === 0
    ? Promise.resolve([])
    : selectObservedRuns(db).where('id', 'in', ids).orderBy('id').execute();
}

type StatusCounts = Partial<Record<RunStatusV2, number>>;

/** Runs of an experiment by status, and its planned runs. */
export interface ExperimentCounts {
  statuses: StatusCounts;
  /** Planned runs that will be submitted. */
  planned: number;
  /** Planned runs that could not be submitted. */
  refused: number;
}

/**
 * Counts the runs and planned runs of each experiment. One statement: a planned run that is submitted between two
 * statements would be counted twice or not at all. Experiments without runs and planned runs are absent.
 */
export async function countExperimentRuns(
  db: Reader,
  experimentUids: readonly string[],
): Promise<Map<string, ExperimentCounts>> {
  const counts = new Map<string, ExperimentCounts>();
  for (const uids of splitIntoBatches(experimentUids)) {
    const rows = await db
      .selectFrom('runs')
      .select((eb) => [
        'experiment_uid as uid',
        sql<RunStatusV2 | 'all planned' | 'refused'>`status`.as('status'),
        eb.fn.countAll().as('count'),
      ])
      .where(OF_EXPERIMENT)
      .where('experiment_uid', 'in', uids)
      .groupBy(['experiment_uid', 'status'])
      .unionAll(selectPlannedCounts(db, uids, 'all planned'))
      .unionAll(selectPlannedCounts(db, uids, 'refused').where(IS_REFUSED))
      .execute();
    for (const { uid, status, count } of rows) {
      const found = counts.get(uid ?? '') ?? { statuses: {}, planned: 0, refused: 0 };
      if (status === 'all planned') found.planned += Number(count);
      else if (status === 'refused') {
        found.refused = Number(count);
        found.planned -= Number(count);
      } else found.statuses[status] = Number(count);
      counts.set(uid ?? '', found);
    }
  }
  return counts;
}

/** Counts the planned runs of each experiment, from indexes alone: each row holds its options and may be large. */
function selectPlannedCounts(db: Reader, uids: readonly string[], name: 'all planned' | 'refused') {
  return db
    .selectFrom('planned_runs')
    .select((eb) => [
      'owner_uid as uid',
      sql.lit<RunStatusV2 | 'all planned' | 'refused'>(name).as('status'),
      eb.fn.countAll().as('count'),
    ])
    .where('owner_uid', 'in', uids)
    .groupBy('owner_uid');
}

/** Returns true if any run of the experiment has not ended; reads a partial index. */
export async function hasUnfinishedRuns(db: Reader, experimentUid: string): Promise<boolean> {
  const row = await db
    .selectFrom('runs')
    .select('id')
    .where(OF_EXPERIMENT)
    .where('experiment_uid', '=', experimentUid)
    .where('finished_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns true if any run of the experiment had ended at the given time. */
export async function hasRunsEndedBy(db: Reader, experimentUid: string, at: number): Promise<boolean> {
  const row = await db
    .selectFrom('runs')
    .select('id')
    .where(OF_EXPERIMENT)
    .where('experiment_uid', '=', experimentUid)
    .where('finished_at', '<=', at)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns true if any run that a shadow test has copied has not ended. */
export async function hasUnfinishedOriginalRuns(db: Reader, experimentUid: string): Promise<boolean> {
  const row = await db
    .selectFrom('runs')
    .select('id')
    .where('finished_at', 'is', null)
    .where('id', 'in', (eb) => selectOriginalRunIds(eb, experimentUid))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The input of a run that a shadow test has copied. */
export type OriginalInput = Pick<RunsTable, 'id' | 'input_content_id' | 'input_format' | 'input_bytes'>;

/** Lists the inputs of the existing runs that a shadow test has copied. */
export function listOriginalInputs(db: Reader, experimentUid: string): Promise<OriginalInput[]> {
  return db
    .selectFrom('runs')
    .select(['id', 'input_content_id', 'input_format', 'input_bytes'])
    .where('id', 'in', (eb) => selectOriginalRunIds(eb, experimentUid))
    .orderBy('id')
    .execute();
}

/** Lists at most `limit` runs of the experiment that have not ended. */
export function listUnfinishedRuns(db: Reader, experimentUid: string, limit: number): Promise<RunsTable[]> {
  return db
    .selectFrom('runs')
    .selectAll()
    .where(OF_EXPERIMENT)
    .where('experiment_uid', '=', experimentUid)
    .where('finished_at', 'is', null)
    .limit(limit)
    .execute();
}

/** Lists at most `limit` runs of the experiment, as far as their deletion reads them. */
export function listDeletableRuns(
  db: Reader,
  experimentUid: string,
  limit: number,
): Promise<Pick<RunsTable, 'id' | 'run_type'>[]> {
  return db
    .selectFrom('runs')
    .select(['id', 'run_type'])
    .where(OF_EXPERIMENT)
    .where('experiment_uid', '=', experimentUid)
    .limit(limit)
    .execute();
}

/** Turns at most `limit` runs of the experiment into ordinary runs; returns how many. */
export async function detachRunsFromExperiment(
  tx: Writer,
  experimentUid: string,
  limit: number,
): Promise<number> {
  const result = await tx
    .updateTable('runs')
    .set({
      experiment_uid: null,
      experiment_id: null,
      experiment_type: null,
      plan_unit_index: null,
      labels: null,
    })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('runs')
        .select('id')
        .where(OF_EXPERIMENT)
        .where('experiment_uid', '=', experimentUid)
        .limit(limit),
    )
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** Lists a page of the runs of a shadow test, newest first: its copies, and the original runs. */
export function listShadowRuns(db: Reader, experimentUid: string, page: PageRequest): Promise<ListedRun[]> {
  let query = db
    .selectFrom('runs')
    .select(LISTED_COLUMNS)
    .where('id', 'in', (eb) =>
      selectOriginalRunIds(eb, experimentUid).union(
        eb
          .selectFrom('runs as copies')
          .select('copies.id')
          .where(sql<boolean>`copies.experiment_uid is not null`)
          .where('copies.experiment_uid', '=', experimentUid),
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (page.after) query = query.where(isAfter('runs', page.after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Selects the ids of the original runs of a shadow test, from its copies and planned copies; a run may be deleted. */
function selectOriginalRunIds(eb: ExpressionBuilder<Tables, 'runs'>, experimentUid: string) {
  return eb
    .selectFrom('runs as made')
    .select((one) => one.ref('made.parent_run_id').$castTo<RunId>().as('id'))
    .where(sql<boolean>`made.experiment_uid is not null`)
    .where('made.experiment_uid', '=', experimentUid)
    .where('made.parent_run_id', 'is not', null)
    .union(
      eb
        .selectFrom('planned_runs as planned')
        .select((one) => one.ref('planned.parent_run_id').$castTo<RunId>().as('id'))
        .where('planned.owner_uid', '=', experimentUid)
        .where('planned.parent_run_id', 'is not', null),
    );
}

/** An instance and a version, or an ensemble, of which an experiment has runs. */
export interface InstanceVersion {
  instance_id: string;
  version_id: string;
  /** Absent for runs of an instance or a version. */
  ensemble_id?: string;
}

/**
 * Lists the instances, versions and ensembles of the runs and the planned runs of the experiment. A planned run may have no version
 * yet. Planned runs are read first: a run that is submitted between the two statements is listed twice, never missed.
 */
export async function listInstanceVersions(
  db: Reader,
  experimentUid: string,
): Promise<(InstanceVersion & { planned: boolean })[]> {
  const planned = await db
    .selectFrom('planned_runs')
    .select(['instance_id', 'version_id', 'definition_id'])
    .distinct()
    .where('owner_uid', '=', experimentUid)
    .execute();
  const made = await db
    .selectFrom('runs')
    .select(['instance_id', 'version_id', 'definition_id'])
    .distinct()
    .where(OF_EXPERIMENT)
    .where('experiment_uid', '=', experimentUid)
    .execute();
  return [
    ...made.map((group) => ({ ...formatInstanceVersion(group), planned: false })),
    ...planned.map((group) => ({ ...formatInstanceVersion(group), planned: true })),
  ];
}

function formatInstanceVersion({
  definition_id,
  ...group
}: Pick<RunsTable, 'instance_id' | 'version_id' | 'definition_id'>): InstanceVersion {
  return definition_id === null ? group : { ...group, ensemble_id: definition_id };
}
