/**
 * Statements on planned runs. Experiments and ensembles insert them in the transaction of their own change, and
 * planned-run-starter.ts submits them. A row exists until its run is submitted, or stays with the error that prevents it.
 */
import type { RunOwnerType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { ERROR_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { ExperimentId, InputId, KeyId, RunId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Reader, Writer } from '../../platform/database/database.ts';
import type { RunLabels } from '../run-columns.ts';
import type { PlannedRunsTable } from './schema.ts';

/** The experiment that a run belongs to. */
export interface ExperimentRef {
  uid: string;
  id: ExperimentId;
  type: RunOwnerType;
}

export interface RunPlan {
  /** The owner of the runs: the experiment, or the ensemble run. */
  ownerUid: string;
  applicationUid: string;
  plannedAt: number;
  /** The creator that the runs show. */
  userEmail: string;
  /** The key behind the runs; null when unknown. */
  key: KeyId | null;
  experiment: ExperimentRef | null;
  /** Replaces the priority of the instances. */
  priority?: number;
  /** Replaces the maximum duration of the instances, in seconds. */
  maxDuration?: number;
}

export interface PlannedRun {
  /** Its unique position among the planned runs of its owner. */
  position: number;
  name?: string;
  /** Empty for a run that names only a version. */
  instanceId: string;
  /** Empty to use the version of the instance. */
  versionId: string;
  /** The ensemble to run in place of an instance or a version. */
  ensembleId?: string | null;
  options: Record<string, string>;
  /** Replaces the priority of the plan and of the instance. */
  priority?: number | null;
  /** Replaces the maximum duration of the plan and of the instance, in seconds. */
  maxDuration?: number | null;
  /** Shared when the run is submitted; the owner keeps the content until then. */
  contentId: string;
  inputFormat: FormatType;
  /** The managed input that the run shows. */
  inputId?: InputId | null;
  parentRunId?: RunId | null;
  labels?: RunLabels;
}

/** Bounded by the number of parameters of a statement. */
const ROWS_PER_STATEMENT = 200;

/** Inserts planned runs. Call `database.notify('runs-planned')` after the commit. */
export async function insertPlannedRuns(
  tx: Writer,
  plan: RunPlan,
  runs: readonly PlannedRun[],
): Promise<void> {
  const formatRow = (run: PlannedRun): PlannedRunsTable => ({
    owner_uid: plan.ownerUid,
    position: run.position,
    application_uid: plan.applicationUid,
    planned_at: plan.plannedAt,
    user_email: plan.userEmail,
    created_by_key: plan.key,
    name: run.name ?? '',
    instance_id: run.instanceId,
    version_id: run.versionId,
    definition_id: run.ensembleId ?? null,
    options: JSON.stringify(run.options),
    priority: run.priority ?? plan.priority ?? null,
    max_duration: run.maxDuration ?? plan.maxDuration ?? null,
    content_id: run.contentId,
    input_format: run.inputFormat,
    input_id: run.inputId ?? null,
    experiment_uid: plan.experiment?.uid ?? null,
    experiment_id: plan.experiment?.id ?? null,
    experiment_type: plan.experiment?.type ?? null,
    parent_run_id: run.parentRunId ?? null,
    labels: run.labels === undefined ? null : JSON.stringify(run.labels),
    error: '',
  });
  // The rows are formatted batch by batch, because the options of all rows together may need too much memory.
  for (let from = 0; from < runs.length; from += ROWS_PER_STATEMENT)
    await tx
      .insertInto('planned_runs')
      .values(runs.slice(from, from + ROWS_PER_STATEMENT).map(formatRow))
      .execute();
}

export type PlannedRunPosition = Pick<PlannedRunsTable, 'planned_at' | 'owner_uid' | 'position'>;

/** Lists planned runs without an error, in the order of their planning, after the position. */
export function listWaitingPlannedRuns(
  db: Reader,
  after: PlannedRunPosition | null,
  limit: number,
): Promise<PlannedRunsTable[]> {
  let query = db
    .selectFrom('planned_runs')
    .selectAll()
    .where('error', '=', sql.lit(''))
    .orderBy('planned_at')
    .orderBy('owner_uid')
    .orderBy('position')
    .limit(limit);
  if (after)
    query = query.where(
      sql<boolean>`(planned_at, owner_uid, position) > (${after.planned_at}, ${after.owner_uid}, ${after.position})`,
    );
  return query.execute();
}

/** Removes the row in the transaction that submits its run; returns false when it is gone, with its owner or to another process. */
export async function claimPlannedRun(
  tx: Writer,
  { owner_uid, position }: Pick<PlannedRunsTable, 'owner_uid' | 'position'>,
): Promise<boolean> {
  const result = await tx
    .deleteFrom('planned_runs')
    .where('owner_uid', '=', owner_uid)
    .where('position', '=', position)
    .where('error', '=', '')
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Stores the error that prevents the run, truncated like the error of a run, because thousands may share it. */
export async function refusePlannedRun(
  tx: Writer,
  { owner_uid, position }: Pick<PlannedRunsTable, 'owner_uid' | 'position'>,
  error: string,
): Promise<void> {
  await tx
    .updateTable('planned_runs')
    .set({ error: error.slice(0, ERROR_CHARS_MAX) })
    .where('owner_uid', '=', owner_uid)
    .where('position', '=', position)
    .where('error', '=', '')
    .execute();
}

/** Literals, because the planner uses a partial index only for a condition in the text of the statement. */
const IS_WAITING = sql<boolean>`error = ''`;
export const IS_REFUSED = sql<boolean>`error <> ''`;

/** Lists the planned runs of an owner that are to be submitted, or with `refused` those with an error, by position. */
export function listPlannedRuns(
  db: Reader,
  ownerUid: string,
  { refused, limit, after = -1 }: { refused: boolean; limit: number; after?: number },
): Promise<PlannedRunsTable[]> {
  return db
    .selectFrom('planned_runs')
    .selectAll()
    .where('owner_uid', '=', ownerUid)
    .where(refused ? IS_REFUSED : IS_WAITING)
    .where('position', '>', after)
    .orderBy('position')
    .limit(limit)
    .execute();
}

/** Counts the planned runs of an owner that are to be submitted, and those with an error. */
export async function countPlannedRuns(
  db: Reader,
  ownerUid: string,
): Promise<{ waiting: number; refused: number }> {
  const rows = await db
    .selectFrom('planned_runs')
    .select((eb) => [
      sql<number>`case when error = '' then 0 else 1 end`.as('refused'),
      eb.fn.countAll().as('count'),
    ])
    .where('owner_uid', '=', ownerUid)
    .groupBy(sql`case when error = '' then 0 else 1 end`)
    .execute();
  const count = (refused: number) => Number(rows.find((row) => Number(row.refused) === refused)?.count ?? 0);
  return { waiting: count(0), refused: count(1) };
}

/** Returns true if the owner has planned runs, with or without an error. */
export async function hasPlannedRuns(db: Reader, ownerUid: string): Promise<boolean> {
  const row = await db
    .selectFrom('planned_runs')
    .select('position')
    .where('owner_uid', '=', ownerUid)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns true if the owner has planned runs without an error, which the server will submit. */
export async function hasWaitingPlannedRuns(db: Reader, ownerUid: string): Promise<boolean> {
  const row = await db
    .selectFrom('planned_runs')
    .select('position')
    .where('owner_uid', '=', ownerUid)
    .where('error', '=', '')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Removes at most `limit` planned runs of an owner; returns how many. */
export async function removePlannedRuns(tx: Writer, ownerUid: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('planned_runs')
    .where('owner_uid', '=', ownerUid)
    .where('position', 'in', (eb) =>
      eb.selectFrom('planned_runs').select('position').where('owner_uid', '=', ownerUid).limit(limit),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

/**
 * Removes the planned runs that are to be submitted; those with an error stay. Waits for a run that is submitted at this
 * moment, so that afterwards no run of the owner is submitted any more.
 */
export async function removeWaitingPlannedRuns(tx: Writer, ownerUid: string): Promise<void> {
  await tx.deleteFrom('planned_runs').where('owner_uid', '=', ownerUid).where(IS_WAITING).execute();
}

/** Removes the planned runs whose parent run is removed. */
export async function removePlannedRunsOfParents(tx: Writer, parents: readonly RunId[]): Promise<void> {
  if (parents.length > 0) await tx.deleteFrom('planned_runs').where('parent_run_id', 'in', parents).execute();
}

/** Removes at most `limit` planned runs of an application; returns one null for each, as no content is removed with it. */
export async function removePlannedRunsOfApplication(
  tx: Writer,
  applicationUid: string,
  limit: number,
): Promise<null[]> {
  const rows = await tx
    .selectFrom('planned_runs')
    .select(['owner_uid', 'position'])
    .where('application_uid', '=', applicationUid)
    .limit(limit)
    .execute();
  for (const { owner_uid, position } of rows)
    await tx
      .deleteFrom('planned_runs')
      .where('owner_uid', '=', owner_uid)
      .where('position', '=', position)
      .execute();
  return rows.map(() => null);
}

/** An instance that runs the version and has planned runs that are still to be submitted; undefined when there is none. */
export async function findPlannedInstanceOfVersion(
  db: Reader,
  applicationUid: string,
  version: VersionId,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('planned_runs')
    .innerJoin('instances', (join) =>
      join
        .onRef('instances.application_uid', '=', 'planned_runs.application_uid')
        .onRef('instances.id', '=', sql.ref('planned_runs.instance_id')),
    )
    .select('instances.id')
    .where('planned_runs.application_uid', '=', applicationUid)
    .where('planned_runs.error', '=', '')
    .where('instances.version_id', '=', version)
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}
