/** Queries for ensemble runs and their child runs; transitions.ts ends them. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Reader } from '../../platform/database/database.ts';
import { parseRulesResult } from '../run-columns.ts';
import { RUNNING, type RunsTable } from './schema.ts';

/** A literal, because the planner uses a partial index only for a value in the text of the statement. */
const ENSEMBLE = sql.lit<'ensemble'>('ensemble');

/**
 * Lists ensemble runs that can advance, by id after the given id: those with a cancel request, and those whose child runs
 * are all submitted and have ended. One statement, because a run submitted between two statements would be missed.
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

/** A child run as far as the rules of the ensemble compare it. */
export type ChildRun = Pick<RunsTable, (typeof OF_CHILD)[number]>;

/** Lists the child runs of an ensemble run, in no order: at most ENSEMBLE_RUNS_MAX. */
export function listChildRuns(db: Reader, parent: RunId): Promise<ChildRun[]> {
  return db.selectFrom('runs').select(OF_CHILD).where('parent_run_id', '=', parent).execute();
}

/** Returns the definition of an ensemble run, in JSON; null when the run is gone. */
export async function findEnsembleDefinition(db: Reader, id: RunId): Promise<string | null> {
  const row = await db.selectFrom('runs').select('ensemble').where('id', '=', id).executeTakeFirst();
  return row?.ensemble ?? null;
}

const LOGGED = ['id', 'labels', 'fence', 'initiated_at', 'log_content_id'] as const;

/** A child run as far as its log goes. */
export type LoggedChildRun = Pick<RunsTable, (typeof LOGGED)[number]>;

/** Lists the child runs with the columns of their logs, in no order: at most ENSEMBLE_RUNS_MAX. */
export function listLoggedChildRuns(db: Reader, parent: RunId): Promise<LoggedChildRun[]> {
  return db.selectFrom('runs').select(LOGGED).where('parent_run_id', '=', parent).execute();
}

const TIMED = ['id', 'initiated_at', 'finished_at', 'execution_ms', 'start_conditions'] as const;

export type TimedChildRun = Pick<RunsTable, (typeof TIMED)[number]>;

/** Lists the child runs with the times of their execution, in no order: at most ENSEMBLE_RUNS_MAX. */
export function listTimedChildRuns(db: Reader, parent: RunId): Promise<TimedChildRun[]> {
  return db.selectFrom('runs').select(TIMED).where('parent_run_id', '=', parent).execute();
}

/**
 * Returns the time at which the first child run of an ensemble run started, in milliseconds; null when none has. An ended one
 * stores it in its result, because its child runs may be deleted.
 */
export async function findEnsembleStart(
  db: Reader,
  run: Pick<RunsTable, 'id' | 'rules_result'>,
): Promise<number | null> {
  const usage = parseRulesResult(run)?.usage;
  if (usage) return Date.parse(usage.started_at);
  return (await findEnsembleStarts(db, [run])).get(run.id) ?? null;
}

/** Returns the times at which the first child runs of ensemble runs started, for those that have one. */
export async function findEnsembleStarts(
  db: Reader,
  ensembles: readonly Pick<RunsTable, 'id'>[],
): Promise<Map<string, number>> {
  if (ensembles.length === 0) return new Map();
  const ids = ensembles.map(({ id }) => id);
  const rows = await db
    .selectFrom('runs')
    .select((eb) => ['parent_run_id', eb.fn.min('initiated_at').as('start')])
    .where('parent_run_id', 'in', ids)
    .groupBy('parent_run_id')
    .execute();
  return new Map(
    rows.flatMap(({ parent_run_id, start }) =>
      parent_run_id && start ? [[parent_run_id, Number(start)]] : [],
    ),
  );
}

/** Lists the child runs that have not ended. */
export function listUnfinishedChildRuns(db: Reader, parent: RunId): Promise<RunsTable[]> {
  return db
    .selectFrom('runs')
    .selectAll()
    .where('parent_run_id', '=', parent)
    .where('finished_at', 'is', null)
    .execute();
}

/** Lists the ids of all child runs of the ensemble runs. */
export async function listChildRunIds(db: Reader, parents: readonly RunId[]): Promise<RunId[]> {
  if (parents.length === 0) return [];
  const rows = await db.selectFrom('runs').select('id').where('parent_run_id', 'in', parents).execute();
  return rows.map((row) => row.id);
}
