/** Statements on experiments, except those that write their status (transitions.ts). Only the removal finds a deleted one. */
import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { ExperimentType } from '@switchyard/contract/states.ts';
import { sql } from 'kysely';
import type { Reader, Writer } from '../../database/database.ts';
import { isInWindow } from '../../database/list-order.ts';
import { locked } from '../../database/row-locks.ts';
import type { PageRequest } from '../../http/lists/pagination.ts';
import type { ExperimentInputsTable, ExperimentKind, ExperimentsTable } from './schema.ts';

/** In the text of the statement, because the planner takes a partial index only for what it can see. */
const STARTED = sql.lit<'started'>('started');

export function findExperiment(
  db: Reader,
  applicationUid: string,
  kind: ExperimentKind,
  id: ExperimentId,
): Promise<ExperimentsTable | undefined> {
  return db
    .selectFrom('experiments')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('kind', '=', kind)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** The experiment as it is now, which nobody else changes or deletes until the transaction is over. */
export function lockExperiment(tx: Writer, uid: string): Promise<ExperimentsTable | undefined> {
  const query = tx
    .selectFrom('experiments')
    .selectAll()
    .where('uid', '=', uid)
    .where('deleted_at', 'is', null);
  return locked(tx, query, 'update').executeTakeFirst();
}

export interface ExperimentListQuery {
  kind: ExperimentKind;
  /** Only those of the type. */
  type: ExperimentType | null;
  window: { start: number; end: number };
  page: PageRequest;
}

/** Newest first; `page.limit` null for all of them. */
export function listExperiments(
  db: Reader,
  applicationUid: string,
  { kind, type, window, page }: ExperimentListQuery,
): Promise<ExperimentsTable[]> {
  let query = db
    .selectFrom('experiments')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('kind', '=', kind)
    .where('deleted_at', 'is', null)
    .where(isInWindow('experiments', window, page.after))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (type) query = query.where('type', '=', type);
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Columns of an experiment that may change while its status stays. */
export type ExperimentChanges = Partial<
  Pick<ExperimentsTable, 'name' | 'description' | 'definition' | 'requested' | 'updated_at' | 'deleted_at'>
>;

/** Changes an experiment, but not its status (transitions.ts); returns false when it is deleted. */
export async function updateExperiment(
  tx: Writer,
  uid: string,
  { name, description, definition, requested, updated_at, deleted_at }: ExperimentChanges,
): Promise<boolean> {
  const result = await tx
    .updateTable('experiments')
    .set({ name, description, definition, requested, updated_at, deleted_at })
    .where('uid', '=', uid)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** What goes on, of the kinds; of one application where it is named. */
export function listStartedExperiments(
  db: Reader,
  kinds: readonly ExperimentKind[],
  applicationUid?: string,
): Promise<ExperimentsTable[]> {
  let query = db
    .selectFrom('experiments')
    .selectAll()
    .where('status', '=', STARTED)
    .where('deleted_at', 'is', null)
    .where('kind', 'in', kinds);
  if (applicationUid !== undefined) query = query.where('application_uid', '=', applicationUid);
  return query.execute();
}

/**
 * Those of a kind that go on, of which nothing is planned and nothing unfinished: asked for whenever runs end, so it looks
 * once at small indexes for each that goes on. One statement, because a run that is born between two would be missed.
 */
export async function listIdleExperiments(db: Reader, kind: ExperimentKind): Promise<string[]> {
  const rows = await db
    .selectFrom('experiments')
    .select('uid')
    .where('status', '=', STARTED)
    .where('deleted_at', 'is', null)
    .where('kind', '=', kind)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('runs')
            .select('runs.id')
            .where(sql<boolean>`runs.experiment_uid is not null`)
            .whereRef('runs.experiment_uid', '=', 'experiments.uid')
            .where('runs.finished_at', 'is', null),
        ),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('planned_runs')
            .select('planned_runs.position')
            .whereRef('planned_runs.owner_uid', '=', 'experiments.uid')
            .where('planned_runs.error', '=', sql.lit('')),
        ),
      ),
    )
    .orderBy('uid')
    .execute();
  return rows.map((row) => row.uid);
}

/** The experiment, unless it is deleted. */
export function findExperimentByUid(db: Reader, uid: string): Promise<ExperimentsTable | undefined> {
  return db
    .selectFrom('experiments')
    .selectAll()
    .where('uid', '=', uid)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Takes it from callers; false when somebody else has. Its rows and runs are removed by removals.ts. */
export function deleteExperiment(tx: Writer, uid: string, at: number): Promise<boolean> {
  return updateExperiment(tx, uid, { deleted_at: at });
}

/** By uid, after the one given. */
export function listDeletedExperiments(
  db: Reader,
  after: string,
  limit: number,
): Promise<ExperimentsTable[]> {
  return db
    .selectFrom('experiments')
    .selectAll()
    .where('deleted_at', 'is not', null)
    .where('uid', '>', after)
    .orderBy('uid')
    .limit(limit)
    .execute();
}

/** A statement takes only so many parameters. */
const ROWS_PER_STATEMENT = 500;

export async function insertExperimentInputs(
  tx: Writer,
  inputs: readonly ExperimentInputsTable[],
): Promise<void> {
  for (let from = 0; from < inputs.length; from += ROWS_PER_STATEMENT)
    await tx
      .insertInto('experiment_inputs')
      .values(inputs.slice(from, from + ROWS_PER_STATEMENT))
      .execute();
}

/** Lets go of what the runs were made of, at most `limit` rows; answers their contents. */
export async function removeExperimentInputs(tx: Writer, uid: string, limit: number): Promise<string[]> {
  const rows = await tx
    .selectFrom('experiment_inputs')
    .select('content_id')
    .where('experiment_uid', '=', uid)
    .limit(limit)
    .execute();
  const contents = rows.map((row) => row.content_id);
  if (contents.length > 0)
    await tx
      .deleteFrom('experiment_inputs')
      .where('experiment_uid', '=', uid)
      .where('content_id', 'in', contents)
      .execute();
  return contents;
}

/** What came out, in JSON, or undefined while it goes on. */
export async function findExperimentResults(db: Reader, uid: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('experiment_results')
    .select('results')
    .where('experiment_uid', '=', uid)
    .executeTakeFirst();
  return row?.results;
}

/** Keeps what came out, in place of what was kept before. */
export async function writeExperimentResults(tx: Writer, uid: string, results: string): Promise<void> {
  await tx
    .insertInto('experiment_results')
    .values({ experiment_uid: uid, results })
    .onConflict((conflict) => conflict.column('experiment_uid').doUpdateSet({ results }))
    .execute();
}

/** Notes that the live test, which is over, has no results yet, in the transaction that ends it. */
export async function markResultsPending(tx: Writer, uid: string): Promise<void> {
  await tx
    .insertInto('unsettled_experiments')
    .values({ experiment_uid: uid })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Live tests that are over and have no results yet. */
export function listTestsWithPendingResults(db: Reader): Promise<ExperimentsTable[]> {
  return db
    .selectFrom('unsettled_experiments')
    .innerJoin('experiments', 'experiments.uid', 'unsettled_experiments.experiment_uid')
    .selectAll('experiments')
    .where('experiments.deleted_at', 'is', null)
    .execute();
}

/** Takes the note away, with the results or with the test. */
export async function clearResultsPending(tx: Writer, uid: string): Promise<void> {
  await tx.deleteFrom('unsettled_experiments').where('experiment_uid', '=', uid).execute();
}

/**
 * Removes what is left of an experiment whose runs, plans and inputs are gone. Its row goes first: who ends an experiment
 * holds it, and what they wrote is only seen by statements that begin once they are done.
 */
export async function removeExperiment(tx: Writer, uid: string): Promise<void> {
  await tx.deleteFrom('experiments').where('uid', '=', uid).execute();
  await tx.deleteFrom('experiment_results').where('experiment_uid', '=', uid).execute();
  await clearResultsPending(tx, uid);
}

/** Lets go of what runs of experiments of an application were to be made of, at most `limit` rows; answers the contents. */
export async function removeExperimentInputsOfApplication(
  tx: Writer,
  applicationUid: string,
  limit: number,
): Promise<string[]> {
  const rows = await tx
    .deleteFrom('experiment_inputs')
    .where('content_id', 'in', (eb) =>
      eb
        .selectFrom('experiments')
        .innerJoin('experiment_inputs as held', 'held.experiment_uid', 'experiments.uid')
        .select('held.content_id')
        .where('experiments.application_uid', '=', applicationUid)
        .limit(limit),
    )
    .returning('content_id')
    .execute();
  return rows.map((row) => row.content_id);
}

/** Removes experiments of an application, at most `limit` at once; answers a null for each. */
export async function removeExperimentsOfApplication(
  tx: Writer,
  applicationUid: string,
  limit: number,
): Promise<null[]> {
  const rows = await tx
    .selectFrom('experiments')
    .select('uid')
    .where('application_uid', '=', applicationUid)
    .limit(limit)
    .execute();
  for (const { uid } of rows) await removeExperiment(tx, uid);
  return rows.map(() => null);
}
