/** Every statement that writes the status of an experiment or of an acceptance test. */
import { listTypesWith, type RunOwnerKind } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type {
  BatchTransition,
  BisectTransition,
  ExperimentStatus,
  OnlineTestTransition,
} from '@switchyard/contract/states.ts';
import { sql } from 'kysely';
import type { Writer } from '../../platform/database/database.ts';
import type { AcceptanceTestsTable } from './acceptance-schema.ts';
import { insertAcceptanceEvent, insertExperimentEvent } from './experiment-events.ts';
import type { ExperimentsTable } from './schema.ts';

/** Inserts an experiment; returns false when the application has another of the same kind and id. */
export async function insertExperiment(tx: Writer, experiment: ExperimentsTable): Promise<boolean> {
  const result = await tx
    .insertInto('experiments')
    .values(experiment)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (result.numInsertedOrUpdatedRows !== 1n) return false;
  await insertExperimentEvent(tx, experiment);
  return true;
}

/** The columns that a transition of an experiment writes besides the status. */
type ExperimentColumns = Partial<
  Pick<ExperimentsTable, 'definition' | 'started_at' | 'completed_at' | 'updated_at'>
>;

/** Changes the status of a batch; returns false when it is deleted or its status is not `from`. */
export function transitionBatch(
  tx: Writer,
  uid: string,
  pair: BatchTransition,
  columns: ExperimentColumns,
): Promise<boolean> {
  return updateStatus(tx, { uid, kinds: ['batch'] }, pair, columns);
}

/** Changes the status of a shadow or switchback test; returns false when it is deleted or its status is not `from`. */
export function transitionOnlineTest(
  tx: Writer,
  uid: string,
  pair: OnlineTestTransition,
  columns: ExperimentColumns,
): Promise<boolean> {
  return updateStatus(tx, { uid, kinds: listTypesWith('isLive') }, pair, columns);
}

/** Changes the status of a bisect experiment; returns false when it is deleted or its status is not `from`. */
export function transitionBisect(
  tx: Writer,
  uid: string,
  pair: BisectTransition,
  columns: ExperimentColumns,
): Promise<boolean> {
  return updateStatus(tx, { uid, kinds: ['bisect'] }, pair, columns);
}

async function updateStatus(
  tx: Writer,
  { uid, kinds }: { uid: string; kinds: readonly RunOwnerKind[] },
  { from, to }: { from: ExperimentStatus; to: ExperimentStatus },
  columns: ExperimentColumns,
): Promise<boolean> {
  const result = await tx
    .updateTable('experiments')
    .set({ ...columns, status: to })
    .where('uid', '=', uid)
    .where('kind', 'in', kinds)
    .where('deleted_at', 'is', null)
    .where('status', '=', from)
    .returningAll()
    .executeTakeFirst();
  if (!result) return false;
  await insertExperimentEvent(tx, result);
  return true;
}

/** Inserts an acceptance test of the batch; returns false when the application has another test of the same id. */
export async function insertAcceptanceTest(
  tx: Writer,
  test: AcceptanceTestsTable,
  batch: ExperimentsTable,
): Promise<boolean> {
  const result = await tx
    .insertInto('acceptance_tests')
    .values(test)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (result.numInsertedOrUpdatedRows !== 1n) return false;
  await insertAcceptanceEvent(tx, test, batch, test.created_at);
  return true;
}

type AcceptanceColumns = Pick<
  AcceptanceTestsTable,
  'passed' | 'error' | 'method' | 'metric_results' | 'profiles'
>;

/** Ends an acceptance test with its results at the given time; does nothing when it has ended or is gone. */
export async function transitionAcceptanceTest(
  tx: Writer,
  uid: string,
  { from, to }: BatchTransition,
  { at, ...columns }: AcceptanceColumns & { at: number },
): Promise<void> {
  const ended = await tx
    .updateTable('acceptance_tests')
    .set({ ...columns, status: to })
    .where('uid', '=', uid)
    // A literal, because the planner uses the partial index of started tests only for a status in the statement.
    .where('status', '=', sql.lit(from))
    .returningAll()
    .executeTakeFirst();
  if (!ended) return;
  const batch = await tx
    .selectFrom('experiments')
    .select(['account_id', 'user_email'])
    .where('uid', '=', ended.experiment_uid)
    .executeTakeFirstOrThrow();
  await insertAcceptanceEvent(tx, ended, batch, at);
}
