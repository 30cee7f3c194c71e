/** Queries for experiments; transitions.ts has those that write the status. Only the clean-up job finds deleted experiments. */
import type { RunOwnerKind, RunOwnerType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { ExperimentStatus } from '@switchyard/contract/states.ts';
import { sql } from 'kysely';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { isInWindow } from '../../platform/database/list-order.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import { removeDeletedRunTraces } from '../../runs/store/deleted-runs.ts';
import { removePlannedEnsembles } from '../ensembles/planned-ensembles.ts';
import { markStoredResults } from './analysis-method.ts';
import type { ExperimentInputsTable, ExperimentsTable } from './schema.ts';

/** A literal, because the planner uses a partial index only for a value in the text of the statement. */
const STARTED = sql.lit<'started'>('started');

/** Returns the experiment; undefined when there is none, or when it is deleted. */
export function findExperiment(
  db: Reader,
  applicationUid: string,
  kind: RunOwnerKind,
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

/** Returns the experiment and locks its row until the end of the transaction; undefined when it is deleted. */
export function lockExperiment(tx: Writer, uid: string): Promise<ExperimentsTable | undefined> {
  const query = tx
    .selectFrom('experiments')
    .selectAll()
    .where('uid', '=', uid)
    .where('deleted_at', 'is', null);
  return locked(tx, query, 'update').executeTakeFirst();
}

/** Filter and page of a list of experiments. */
export interface ExperimentListQuery {
  kind: RunOwnerKind;
  /** The type of the listed experiments; null for every type. */
  type: RunOwnerType | null;
  status?: ExperimentStatus | undefined;
  /** true leaves out the batch of an acceptance test with the same id. */
  withoutTested?: boolean;
  window: { start: number; end: number };
  page: PageRequest;
}

/** Lists experiments, newest first: one row more than the page, to see whether others follow. A null `page.limit` lists all. */
export function listExperiments(
  db: Reader,
  applicationUid: string,
  { kind, type, status, withoutTested, window, page }: ExperimentListQuery,
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
  if (status) query = query.where('status', '=', status);
  if (withoutTested)
    query = query.where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('acceptance_tests')
            .select('acceptance_tests.uid')
            .whereRef('acceptance_tests.experiment_uid', '=', 'experiments.uid')
            .whereRef('acceptance_tests.id', '=', 'experiments.id'),
        ),
      ),
    );
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Columns of an experiment that can change without a transition. */
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

/** Lists started experiments of the kinds, of one application when `applicationUid` is given. */
export function listStartedExperiments(
  db: Reader,
  kinds: readonly RunOwnerKind[],
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
 * Lists the uids of started experiments of a kind without planned and unfinished runs. A job calls it whenever runs end, so
 * it reads small partial indexes only. One statement, because a run created between two statements would be missed.
 */
export async function listIdleExperiments(db: Reader, kind: RunOwnerKind): Promise<string[]> {
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

/** Lists the uids of canceled experiments of a kind with runs that nobody has canceled yet. */
export async function listCanceledWithUnfinishedRuns(db: Reader, kind: RunOwnerKind): Promise<string[]> {
  const rows = await db
    .selectFrom('runs')
    .innerJoin('experiments', 'experiments.uid', 'runs.experiment_uid')
    .select('experiments.uid')
    .distinct()
    // Literals of the partial index of unfinished runs of experiments.
    .where(sql<boolean>`runs.experiment_uid is not null`)
    .where('runs.finished_at', 'is', null)
    .where('runs.cancel_requested_at', 'is', null)
    .where('experiments.kind', '=', kind)
    .where('experiments.status', '=', 'canceled')
    .orderBy('experiments.uid')
    .execute();
  return rows.map((row) => row.uid);
}

/** Lists the inputs of the planned runs of an experiment, by id. */
export function listExperimentInputs(db: Reader, uid: string): Promise<ExperimentInputsTable[]> {
  return db
    .selectFrom('experiment_inputs')
    .selectAll()
    .where('experiment_uid', '=', uid)
    .orderBy('input_set_id')
    .orderBy('input_id')
    .execute();
}

/** Returns the experiment; undefined when it is deleted. */
export function findExperimentByUid(db: Reader, uid: string): Promise<ExperimentsTable | undefined> {
  return db
    .selectFrom('experiments')
    .selectAll()
    .where('uid', '=', uid)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Hides the experiment from callers. Returns false when it is deleted already. The clean-up job removes its rows and runs. */
export function deleteExperiment(tx: Writer, uid: string, at: number): Promise<boolean> {
  return updateExperiment(tx, uid, { deleted_at: at });
}

/** Lists deleted experiments by uid after the given uid. */
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

/** Keeps a statement below the parameter limits of SQLite (32,766) and PostgreSQL (65,535). */
const ROWS_PER_STATEMENT = 500;

/** Stores the inputs of the planned runs of an experiment. */
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

/** Deletes at most `limit` inputs of the experiment. Returns their content ids, for the caller to remove. */
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

/** Returns the stored results in JSON, with their method of analysis; undefined until the experiment has ended. */
export async function findExperimentResults(db: Reader, uid: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('experiment_results')
    .select('results')
    .where('experiment_uid', '=', uid)
    .executeTakeFirst();
  return row && markStoredResults(row.results);
}

/** Stores the results and replaces earlier ones. */
export async function writeExperimentResults(tx: Writer, uid: string, results: string): Promise<void> {
  await tx
    .insertInto('experiment_results')
    .values({ experiment_uid: uid, results, verdict: null })
    .onConflict((conflict) => conflict.column('experiment_uid').doUpdateSet({ results, verdict: null }))
    .execute();
}

/** Marks an online test as one without results. Call it in the transaction that ends the test. */
export async function markResultsPending(tx: Writer, uid: string): Promise<void> {
  await tx
    .insertInto('unsettled_experiments')
    .values({ experiment_uid: uid })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Lists online tests that have ended and have no results yet. */
export function listTestsWithPendingResults(db: Reader): Promise<ExperimentsTable[]> {
  return db
    .selectFrom('unsettled_experiments')
    .innerJoin('experiments', 'experiments.uid', 'unsettled_experiments.experiment_uid')
    .selectAll('experiments')
    .where('experiments.deleted_at', 'is', null)
    .execute();
}

/** Removes the mark of `markResultsPending`. Call it with the results, or with the deletion of the test. */
export async function clearResultsPending(tx: Writer, uid: string): Promise<void> {
  await tx.deleteFrom('unsettled_experiments').where('experiment_uid', '=', uid).execute();
}

/**
 * Deletes the rows of an experiment whose runs, planned runs and inputs are deleted. The experiment's own row goes first: a
 * job that ends the experiment locks that row, so the later statements see the results that the job wrote.
 */
export async function removeExperiment(tx: Writer, uid: string): Promise<void> {
  await tx.deleteFrom('experiments').where('uid', '=', uid).execute();
  await tx.deleteFrom('experiment_results').where('experiment_uid', '=', uid).execute();
  await tx.deleteFrom('experiment_input_properties').where('experiment_uid', '=', uid).execute();
  await clearResultsPending(tx, uid);
  await removeDeletedRunTraces(tx, uid);
  await removePlannedEnsembles(tx, uid);
}

/** Deletes at most `limit` experiment inputs of an application. Returns their content ids, for the caller to remove. */
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
        .innerJoin('experiment_inputs as stored', 'stored.experiment_uid', 'experiments.uid')
        .select('stored.content_id')
        .where('experiments.application_uid', '=', applicationUid)
        .limit(limit),
    )
    .returning('content_id')
    .execute();
  return rows.map((row) => row.content_id);
}

/** Deletes at most `limit` experiments of an application. Returns a null for each deleted experiment. */
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
