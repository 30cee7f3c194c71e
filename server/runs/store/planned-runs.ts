/**
 * Runs that are to be born: every statement on them. Experiments and ensembles write what they want to be run in the
 * transaction of their own change; births.ts makes runs of it. A row is there until its run is, or for good with the
 * reason why it cannot be born.
 */

import { ERROR_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { ExperimentId, InputId, RunId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { ExperimentType } from '@switchyard/contract/states.ts';
import { sql } from 'kysely';
import type { Reader, Writer } from '../../database/database.ts';
import type { RunLabels } from './labels.ts';
import type { PlannedRunsTable } from './schema.ts';

/** The experiment that a run belongs to. */
export interface ExperimentRef {
  uid: string;
  id: ExperimentId;
  type: ExperimentType;
}

export interface RunPlan {
  /** What the runs are for: the experiment, or the run of an ensemble. */
  ownerUid: string;
  applicationUid: string;
  plannedAt: number;
  /** Who is said to have made the runs. */
  userEmail: string;
  experiment: ExperimentRef | null;
}

export interface PlannedRun {
  /** Its place among those of its owner, each once. */
  position: number;
  name?: string;
  /** Empty for a run that is given a version alone. */
  instanceId: string;
  /** Empty for the version of the instance. */
  versionId: string;
  options: Record<string, string>;
  /** In place of the priority that the instance gives. */
  priority?: number | null;
  /** Shared when the run is born; whoever plans sees to it that it is there until then. */
  contentId: string;
  inputFormat: FormatType;
  /** As the run shows it. */
  inputId?: InputId | null;
  parentRunId?: RunId | null;
  labels?: RunLabels;
}

/** A statement takes only so many parameters. */
const ROWS_PER_STATEMENT = 200;

/** Plans runs. Call `database.notify('runs-planned')` after the commit. */
export async function insertPlannedRuns(
  tx: Writer,
  plan: RunPlan,
  runs: readonly PlannedRun[],
): Promise<void> {
  const rowOf = (run: PlannedRun): PlannedRunsTable => ({
    owner_uid: plan.ownerUid,
    position: run.position,
    application_uid: plan.applicationUid,
    planned_at: plan.plannedAt,
    user_email: plan.userEmail,
    name: run.name ?? '',
    instance_id: run.instanceId,
    version_id: run.versionId,
    options: JSON.stringify(run.options),
    priority: run.priority ?? null,
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
  // Each row has its options written out, and those of all are more than should be held at once.
  for (let from = 0; from < runs.length; from += ROWS_PER_STATEMENT)
    await tx
      .insertInto('planned_runs')
      .values(runs.slice(from, from + ROWS_PER_STATEMENT).map(rowOf))
      .execute();
}

export type PlannedRunPosition = Pick<PlannedRunsTable, 'planned_at' | 'owner_uid' | 'position'>;

/** What may be born, in the order in which it was planned, after the place. */
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

/** Takes the row in the transaction of the birth; false when somebody else has, or its owner is gone. */
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

/** Notes why it cannot be born: as much as an error of a run may say, for thousands may have the same reason. */
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

/** In the text of the statements, because the planner takes a partial index only for what it can see. */
const IS_WAITING = sql<boolean>`error = ''`;
export const IS_REFUSED = sql<boolean>`error <> ''`;

/** Rows of an owner that are waiting to be born, or with `refused` those that cannot be, in their order. */
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

/** How many runs of an owner are waiting to be born, and how many cannot be. */
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

/** Whether anything is planned for the owner, waiting or refused. */
export async function hasPlannedRuns(db: Reader, ownerUid: string): Promise<boolean> {
  const row = await db
    .selectFrom('planned_runs')
    .select('position')
    .where('owner_uid', '=', ownerUid)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether any run of the owner is waiting to be born. */
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

/** Removes what an owner has planned, at most `limit` rows at once; answers how many. */
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
 * Forgets what is waiting to be born; what cannot be born stays with its reason. What is being born at this moment is born
 * when this is done.
 */
export async function removeWaitingPlannedRuns(tx: Writer, ownerUid: string): Promise<void> {
  await tx.deleteFrom('planned_runs').where('owner_uid', '=', ownerUid).where(IS_WAITING).execute();
}

/** Forgets what runs that go were to be followed by. */
export async function removePlannedRunsOfParents(tx: Writer, parents: readonly RunId[]): Promise<void> {
  if (parents.length > 0) await tx.deleteFrom('planned_runs').where('parent_run_id', 'in', parents).execute();
}

/** Removes what is planned in an application, at most `limit` rows at once; answers a null for each. */
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
