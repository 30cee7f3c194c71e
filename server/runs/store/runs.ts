/** Statements on runs, except those that write their status (transitions.ts), their events and their logs. */
import { PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import type { ExecutableId, RunId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import { type SqlBool, sql } from 'kysely';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { splitIntoBatches } from '../../platform/database/id-batches.ts';
import { isInWindow } from '../../platform/database/list-order.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import { INDEXED_COLUMNS, removeRunValues, replaceTextValues } from '../values/run-values.ts';
import { removeAssetsOfRuns } from './assets.ts';
import { TRACED_COLUMNS, traceDeletedRuns } from './deleted-runs.ts';
import { removePlannedRunsOfParents } from './planned-runs.ts';
import { removeCapturesOfRuns } from './routes.ts';
import type { RunsTable } from './schema.ts';

/**
 * Selects by the id alone. With the application in the condition too, PostgreSQL may choose the index of the application
 * and read all its runs, if its statistics are older than these runs.
 */
const selectRun = prepareStatement((db, { id }: { id: RunId }) =>
  db.selectFrom('runs').selectAll().where('id', '=', id),
);

/** Returns the run of the application; undefined for a missing run. */
export async function findRun(db: Reader, applicationUid: string, id: RunId): Promise<RunsTable | undefined> {
  const [run] = await selectRun(db, { id });
  return run?.application_uid === applicationUid ? run : undefined;
}

/** Returns those of the runs that exist, of any application, by id. */
export async function findRuns(db: Reader, ids: readonly RunId[]): Promise<Map<RunId, RunsTable>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('runs').selectAll().where('id', 'in', ids).execute();
  return new Map(rows.map((run) => [run.id, run]));
}

/** Returns the statuses of those of the runs that exist, of any application, by id. */
export async function findRunStatuses(db: Reader, ids: readonly RunId[]): Promise<Map<RunId, RunStatusV2>> {
  const statuses = new Map<RunId, RunStatusV2>();
  for (const batch of splitIntoBatches(ids)) {
    const rows = await db.selectFrom('runs').select(['id', 'status']).where('id', 'in', batch).execute();
    for (const { id, status } of rows) statuses.set(id, status);
  }
  return statuses;
}

/** The columns of a run in lists: without its statistics and metrics, which can be a megabyte each. */
export const LISTED_COLUMNS = [
  'id',
  'executable_id',
  'user_email',
  'name',
  'description',
  'status',
  'created_at',
  'initiated_at',
  'finished_at',
  'execution_ms',
  'lost_attempts',
  'application_id',
  'instance_id',
  'version_id',
  'run_type',
  'definition_id',
  'reference_id',
  'execution_class',
  'priority',
  'queuing_disabled',
  'runtime',
  'options_summary',
  'request_options',
  'input_id',
  'experiment_id',
  'experiment_type',
  'child_of_experiment',
  'plan_unit_index',
  'parent_run_id',
  'workflow',
  'labels',
  'statistics_status',
  'statistics_error',
  'metrics_error',
  'indicators',
  'start_conditions',
] as const;

export type ListedRun = Pick<RunsTable, (typeof LISTED_COLUMNS)[number]>;

/** The columns of a run that is only counted. They precede the statistics, which SQLite otherwise reads through. */
export const COUNTED_COLUMNS = ['id', 'status', 'created_at', 'execution_ms'] as const;

export type CountedRun = Pick<RunsTable, (typeof COUNTED_COLUMNS)[number]>;

/** The condition of the index runs_by_production, so that thousands of runs of experiments are not read. */
const IS_PRODUCTION = sql<SqlBool>`(child_of_experiment is null and (experiment_uid is null or experiment_type = 'switchback'))`;

type RunsPage = PageRequest & { limit: number; isProduction: boolean };

/** Lists the runs of a page within the time window, newest first, and one more if there is a next page. */
export function listRuns(
  db: Reader,
  applicationUid: string,
  window: { start: number; end: number },
  page: RunsPage,
): Promise<ListedRun[]> {
  return selectRuns(db, applicationUid, window, page).select(LISTED_COLUMNS).execute();
}

/** Selects the runs that listRuns lists, without a column. */
export function selectRuns(
  db: Reader,
  applicationUid: string,
  window: { start: number; end: number },
  page: RunsPage,
) {
  const query = db
    .selectFrom('runs')
    .where('application_uid', '=', applicationUid)
    .where(isInWindow('runs', window, page.after))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  if (!page.isProduction) return query;
  return query.where(IS_PRODUCTION);
}

/** Returns those of the runs that exist, to count them, in no order. Selects by the ids alone, as selectRun does. */
export async function findCountedRuns(
  db: Reader,
  ids: readonly RunId[],
  isProduction: boolean,
): Promise<CountedRun[]> {
  const found: CountedRun[] = [];
  for (const batch of splitIntoBatches(ids)) {
    const query = db.selectFrom('runs').select(COUNTED_COLUMNS).where('id', 'in', batch);
    found.push(...(await (isProduction ? query.where(IS_PRODUCTION) : query).execute()));
  }
  return found;
}

/**
 * Returns true unless an experiment created the run, or one of the runs above it. A switchback test only chooses the instance
 * of a requested run.
 */
export function isProductionRun({
  experiment_id,
  experiment_type,
  child_of_experiment,
}: Pick<RunsTable, 'experiment_id' | 'experiment_type' | 'child_of_experiment'>): boolean {
  return child_of_experiment === null && (experiment_id === null || experiment_type === 'switchback');
}

const readListedRuns = prepareStatement((db, ids: Record<`id${number}`, RunId>) =>
  db
    .selectFrom('runs')
    .select([...LISTED_COLUMNS, 'application_uid'])
    .where('id', 'in', Object.values(ids)),
);

/**
 * Returns those of at most PAGE_ITEMS_MAX runs that the application has, in the order of the ids. Selects by the ids alone, for
 * the reason given at selectRun.
 */
export async function findListedRuns(
  db: Reader,
  applicationUid: string,
  ids: readonly RunId[],
): Promise<ListedRun[]> {
  const [first] = ids;
  if (first === undefined) return [];
  // The statement has the number of ids of a whole page, because it is prepared once.
  const slots = Array.from({ length: PAGE_ITEMS_MAX }, (_, index) => [`id${index}`, ids[index] ?? first]);
  const rows = await readListedRuns(db, Object.fromEntries(slots));
  const found = new Map(
    rows.flatMap((row) => (row.application_uid === applicationUid ? [[row.id, row] as const] : [])),
  );
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** Returns the ids of the contents with the logs of the runs; null for a run without one. */
export async function findLogContents(db: Reader, ids: readonly RunId[]): Promise<Map<RunId, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('runs').select(['id', 'log_content_id']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, log_content_id }) => [id, log_content_id]));
}

/** The columns of a run whose input another resource uses. */
const INPUT_COLUMNS = [
  'id',
  'application_uid',
  'name',
  'description',
  'created_at',
  'input_content_id',
  'input_format',
  'output_format',
] as const;

export type RunInput = Pick<RunsTable, (typeof INPUT_COLUMNS)[number]>;

/** Returns the inputs of those of the runs that the application has, in no order. Selects by ids alone, as selectRun does. */
export async function findRunInputs(
  db: Reader,
  applicationUid: string,
  ids: readonly RunId[],
): Promise<RunInput[]> {
  if (ids.length === 0) return [];
  const runs = await db.selectFrom('runs').select(INPUT_COLUMNS).where('id', 'in', ids).execute();
  return runs.filter((run) => run.application_uid === applicationUid);
}

/**
 * Lists the inputs of succeeded runs of the instance, newest first. Runs that an experiment or an ensemble created are
 * omitted, but runs that a switchback test sent to the instance are included, because a caller submitted them.
 */
export function listSucceededInputs(
  db: Reader,
  place: { applicationUid: string; instanceId: string },
  window: { start: number; end: number },
  limit: number,
): Promise<RunInput[]> {
  return db
    .selectFrom('runs')
    .select(INPUT_COLUMNS)
    .where('application_uid', '=', place.applicationUid)
    .where('instance_id', '=', place.instanceId)
    .where('status', '=', sql.lit('succeeded'))
    .where('parent_run_id', 'is', null)
    .where((eb) => eb.or([eb('experiment_type', 'is', null), eb('experiment_type', '=', 'switchback')]))
    .where(isInWindow('runs', window, null))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Updates the given fields of the run; does nothing without any. */
export async function updateNameAndDescription(
  tx: Writer,
  id: RunId,
  changes: { name?: string; description?: string },
): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  const { name, description } = changes;
  const changed = await tx
    .updateTable('runs')
    .set({ name, description })
    .where('id', '=', id)
    .returning(INDEXED_COLUMNS)
    .executeTakeFirst();
  // A queued or running run gets its values when it ends.
  if (changed && changed.status !== 'queued' && changed.status !== 'running')
    await replaceTextValues(tx, changed);
}

/** Changes the priority; returns false when the run is not queued. */
export async function updatePriority(tx: Writer, id: RunId, priority: number): Promise<boolean> {
  const result = await tx
    .updateTable('runs')
    .set({ priority })
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** The contents that are deleted with a run. */
const OWN_CONTENTS = [
  'input_content_id',
  'previous_content_id',
  'output_content_id',
  'stdout_content_id',
  'log_content_id',
] as const;

/** Removes runs with their rows in other tables, except log chunks (log-chunks.ts); returns the ids of their contents. */
export async function removeRuns(tx: Writer, ids: readonly RunId[]): Promise<(string | null)[]> {
  if (ids.length === 0) return [];
  const rows = await tx
    .deleteFrom('runs')
    .where('id', 'in', ids)
    .returning([...INDEXED_COLUMNS, ...OWN_CONTENTS, ...TRACED_COLUMNS])
    .execute();
  for (const row of rows) await removeRunValues(tx, row);
  await traceDeletedRuns(tx, rows);
  await removeCapturesOfRuns(tx, ids);
  await removePlannedRunsOfParents(tx, ids);
  await tx.deleteFrom('run_series').where('run_id', 'in', ids).execute();
  await tx.deleteFrom('run_log_times').where('run_id', 'in', ids).execute();
  await tx
    .deleteFrom('run_replays')
    .where((eb) => eb.or([eb('run_id', 'in', ids), eb('original_run_id', 'in', ids)]))
    .execute();
  await tx.deleteFrom('run_tags').where('run_id', 'in', ids).execute();
  await tx.deleteFrom('run_shares').where('run_id', 'in', ids).execute();
  await tx.deleteFrom('run_flows').where('run_id', 'in', ids).execute();
  await tx
    .deleteFrom('run_children')
    .where((eb) => eb.or([eb('run_id', 'in', ids), eb('parent_run_id', 'in', ids)]))
    .execute();
  const assets = await removeAssetsOfRuns(tx, ids);
  const own = rows.flatMap((row) => OWN_CONTENTS.map((column) => row[column]));
  return [...own, ...assets];
}

/** Lists the ids of some runs of an application, at most `limit`. */
export async function listRunIds(db: Reader, applicationUid: string, limit: number): Promise<RunId[]> {
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where('application_uid', '=', applicationUid)
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/** Returns those of the executables that runs use; with `live`, only runs that have not ended. */
export async function findExecutablesInUse(
  db: Reader,
  ids: readonly ExecutableId[],
  live: boolean,
): Promise<ExecutableId[]> {
  const rows = await db
    .selectFrom('executables')
    .select('id')
    .where('id', 'in', ids)
    .where((eb) => {
      const runs = eb
        .selectFrom('runs')
        .select('runs.id')
        .whereRef('runs.executable_id', '=', 'executables.id');
      return eb.exists(live ? runs.where('runs.finished_at', 'is', null) : runs);
    })
    .execute();
  return rows.map((row) => row.id);
}

/**
 * Finds a queued or running run of an instance that uses the version. The status is a literal and the application an
 * expression, so that both databases use the partial indexes of queued and running runs. Otherwise they use the index with
 * all runs of the application.
 */
export async function findUnfinishedRunOfVersion(
  db: Reader,
  applicationUid: string,
  version: VersionId,
): Promise<Pick<RunsTable, 'id' | 'instance_id' | 'status'> | undefined> {
  for (const status of ['running', 'queued'] as const) {
    const run = await db
      .selectFrom('runs')
      .select(['id', 'instance_id', 'status'])
      .where(sql<boolean>`runs.status = ${sql.lit(status)}`)
      .where(sql<boolean>`runs.application_uid || '' = ${applicationUid}`)
      .where('instance_id', 'in', selectInstanceIds(db, applicationUid, version))
      .limit(1)
      .executeTakeFirst();
    if (run) return run;
  }
  return undefined;
}

function selectInstanceIds(db: Reader, applicationUid: string, version: VersionId) {
  return db
    .selectFrom('instances')
    .select('instances.id')
    .where('instances.application_uid', '=', applicationUid)
    .where('instances.version_id', '=', version);
}
