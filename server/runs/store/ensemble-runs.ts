/** Queries for ensemble runs and their child runs; transitions.ts ends them. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Reader } from '../../database/database.ts';
import type { RunsTable } from './schema.ts';
import { RUNNING } from './status-literals.ts';

/** In the text of the statement, for the partial index. */
const ENSEMBLE = sql.lit<'ensemble'>('ensemble');

/**
 * Runs of ensembles that can be taken a step further, by id after the one given: those that are to be canceled, and those
 * of which all runs were made and have ended. One statement, because a run that is made between two would be missed.
 */
export function listReadyEnsembleRuns(db: Reader, after: RunId | null, limit: number): Promise<RunsTable[]> {
  let query = db
    .selectFrom('runs')
    .selectAll('runs')
    .where('runs.status', '=', RUNNING)
    .where('runs.run_type', '=', ENSEMBLE)
    .where((eb) =>
      eb.or([
        eb('runs.cancel_requested_at', 'is not', null),
        eb.and([
          eb.not(
            eb.exists(
              eb
                .selectFrom('runs as child')
                .select('child.id')
                .whereRef('child.parent_run_id', '=', 'runs.id')
                .where('child.finished_at', 'is', null),
            ),
          ),
          eb.not(
            eb.exists(
              eb
                .selectFrom('planned_runs')
                .select('planned_runs.position')
                .whereRef('planned_runs.owner_uid', '=', 'runs.id')
                .where('planned_runs.error', '=', ''),
            ),
          ),
        ]),
      ]),
    )
    .orderBy('runs.id')
    .limit(limit);
  if (after) query = query.where('runs.id', '>', after);
  return query.execute();
}

const OF_CHILD = [
  'id',
  'status',
  'error',
  'instance_id',
  'version_id',
  'labels',
  'statistics_status',
  'statistics_error',
  'indicators',
] as const;

/** What a run of an ensemble is compared by. */
export type ChildRun = Pick<RunsTable, (typeof OF_CHILD)[number]>;

/** The runs that the run of an ensemble consists of, in no order: at most ENSEMBLE_RUNS_MAX. */
export function listChildRuns(db: Reader, parent: RunId): Promise<ChildRun[]> {
  return db.selectFrom('runs').select(OF_CHILD).where('parent_run_id', '=', parent).execute();
}

/** The definition that an ensemble run keeps, in JSON; null when the run is gone. */
export async function findEnsembleDefinition(db: Reader, id: RunId): Promise<string | null> {
  const row = await db.selectFrom('runs').select('ensemble').where('id', '=', id).executeTakeFirst();
  return row?.ensemble ?? null;
}

const LOGGED = ['id', 'labels', 'fence', 'initiated_at', 'log_content_id'] as const;

/** A child run as far as its log goes. */
export type LoggedChildRun = Pick<RunsTable, (typeof LOGGED)[number]>;

/** The child runs that exist now, in no order: at most ENSEMBLE_RUNS_MAX. */
export function listLoggedChildRuns(db: Reader, parent: RunId): Promise<LoggedChildRun[]> {
  return db.selectFrom('runs').select(LOGGED).where('parent_run_id', '=', parent).execute();
}

/** Those of them that have not ended. */
export function listUnfinishedChildRuns(db: Reader, parent: RunId): Promise<RunsTable[]> {
  return db
    .selectFrom('runs')
    .selectAll()
    .where('parent_run_id', '=', parent)
    .where('finished_at', 'is', null)
    .execute();
}

export async function listChildRunIds(db: Reader, parents: readonly RunId[]): Promise<RunId[]> {
  if (parents.length === 0) return [];
  const rows = await db.selectFrom('runs').select('id').where('parent_run_id', 'in', parents).execute();
  return rows.map((row) => row.id);
}
