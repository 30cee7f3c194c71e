/**
 * Statements on deleted runs of experiments. Without them a deleted run would leave no trace, and a caller who deletes the
 * runs that a candidate lost would make it better.
 */
import { hasFact, type RunOwnerType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import type { DeletedExperimentRunsTable, RunsTable } from './schema.ts';

/** The columns of a deleted run that its experiment reads. */
export const TRACED_COLUMNS = [
  'experiment_uid',
  'experiment_type',
  'plan_unit_index',
  'instance_id',
  'version_id',
  'definition_id',
  'input_id',
  'labels',
] as const;

type DeletedRun = Pick<RunsTable, 'id' | (typeof TRACED_COLUMNS)[number]>;

/** Experiments with planned runs pair them, so they read which were deleted. The other types count them. */
const pairsRuns = (type: RunOwnerType | null): boolean => type !== null && !hasFact(type, 'isLive');

/** Bounded by the number of parameters of a statement. */
const ROWS_PER_STATEMENT = 100;

/** Records the deleted runs of experiments, in the transaction that deletes them. */
export async function traceDeletedRuns(tx: Writer, deleted: readonly DeletedRun[]): Promise<void> {
  await countDeletedUnitRuns(tx, deleted);
  const rows = deleted.flatMap(
    ({ id, experiment_uid, experiment_type, instance_id, version_id, definition_id, input_id, labels }) =>
      experiment_uid !== null && pairsRuns(experiment_type)
        ? [{ experiment_uid, run_id: id, instance_id, version_id, definition_id, input_id, labels }]
        : [],
  );
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT)
    await tx
      .insertInto('deleted_experiment_runs')
      .values(rows.slice(from, from + ROWS_PER_STATEMENT))
      .execute();
}

/** Lists deleted runs of a batch or a bisect experiment by id, after the given id. */
export function listDeletedRuns(
  db: Reader,
  experimentUid: string,
  after: RunId | null,
  limit: number,
): Promise<DeletedExperimentRunsTable[]> {
  let query = db
    .selectFrom('deleted_experiment_runs')
    .selectAll()
    .where('experiment_uid', '=', experimentUid)
    .orderBy('run_id')
    .limit(limit);
  if (after) query = query.where('run_id', '>', after);
  return query.execute();
}

async function countDeletedUnitRuns(
  tx: Writer,
  deleted: readonly Pick<RunsTable, 'experiment_uid' | 'plan_unit_index'>[],
): Promise<void> {
  const counts = new Map<string, { experiment_uid: string; plan_unit_index: number; runs: number }>();
  for (const { experiment_uid, plan_unit_index } of deleted) {
    if (experiment_uid === null || plan_unit_index === null) continue;
    const key = JSON.stringify([experiment_uid, plan_unit_index]);
    const runs = (counts.get(key)?.runs ?? 0) + 1;
    counts.set(key, { experiment_uid, plan_unit_index, runs });
  }
  // One order in all transactions, because each statement locks its row.
  for (const [, row] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
    await tx
      .insertInto('deleted_unit_runs')
      .values(row)
      .onConflict((conflict) =>
        conflict
          .columns(['experiment_uid', 'plan_unit_index'])
          .doUpdateSet((eb) => ({ runs: eb('deleted_unit_runs.runs', '+', row.runs) })),
      )
      .execute();
}

/** Lists the numbers of deleted runs of a switchback test, by unit; units without any are absent. */
export function listDeletedUnitRuns(
  db: Reader,
  experimentUid: string,
): Promise<{ plan_unit_index: number; runs: number }[]> {
  return db
    .selectFrom('deleted_unit_runs')
    .select(['plan_unit_index', 'runs'])
    .where('experiment_uid', '=', experimentUid)
    .orderBy('plan_unit_index')
    .execute();
}

/** Removes all that is stored about the deleted runs of the experiment. */
export async function removeDeletedRunTraces(tx: Writer, experimentUid: string): Promise<void> {
  await tx.deleteFrom('deleted_unit_runs').where('experiment_uid', '=', experimentUid).execute();
  await tx.deleteFrom('deleted_experiment_runs').where('experiment_uid', '=', experimentUid).execute();
}
