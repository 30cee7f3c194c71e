/**
 * Changes the control of a batch. A batch compares every group with the first one; an acceptance test names its control. The
 * published client puts the candidate first when it creates the batch of an acceptance test, so the first acceptance test of
 * a batch moves its control to the front.
 */
import type { Writer } from '../../platform/database/database.ts';
import { quoteValue } from '../../platform/http/errors/problem.ts';
import type { AcceptanceSide } from '../store/acceptance-definition.ts';
import { hasAcceptanceTests } from '../store/acceptance-tests.ts';
import { orderControlFirst, parseBatchDefinition } from '../store/batch-definition.ts';
import { updateExperiment, writeExperimentResults } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { type BatchResultsContext, computeBatchResults, readBatchState } from './batch-results.ts';

/** The columns of a batch that change with its control. */
export interface ControlChange {
  definition: string;
  /** The results in JSON with the new control; null while the batch has none. */
  results: string | null;
}

/**
 * Computes the change that an acceptance test makes to a batch. Returns null when the control is first already, when an
 * earlier test set the control, or when runs of an ended batch were deleted: its results cannot be computed again.
 */
export async function computeControlChange(
  context: BatchResultsContext,
  batch: ExperimentsTable,
  control: AcceptanceSide,
): Promise<ControlChange | null> {
  const { read } = context.database;
  if (await hasAcceptanceTests(read, batch.uid)) return null;
  const before = parseBatchDefinition(batch);
  const after = orderControlFirst(before, control);
  if (
    after.order.instances[0] === before.order.instances[0] &&
    after.order.ensembles?.[0] === before.order.ensembles?.[0] &&
    after.order.versions[0] === before.order.versions[0]
  )
    return null;
  const definition = JSON.stringify(after);
  if (batch.status === 'started') return { definition, results: null };
  const { counts } = await readBatchState(read, batch);
  const runs = Object.values(counts.statuses).reduce((sum, count) => sum + count, counts.refused);
  if (runs !== batch.requested) return null;
  return { definition, results: await computeBatchResults(context, { ...batch, definition }, 'complete') };
}

/** Thrown when the batch changed after the computation of the control change; compute it again. */
export class BatchChangedError extends Error {}

/**
 * Writes the change that was computed for `known`; `locked` is the batch in this transaction. Throws a `BatchChangedError`
 * when the batch ended or another acceptance test changed it.
 */
export async function applyControlChange(
  tx: Writer,
  known: ExperimentsTable,
  locked: ExperimentsTable,
  { definition, results }: ControlChange,
): Promise<void> {
  const { uid, id } = locked;
  if (locked.status !== known.status || locked.definition !== known.definition)
    throw new BatchChangedError(
      `The batch experiment ${quoteValue(id)} changed; compute the control change again.`,
    );
  await updateExperiment(tx, uid, { definition });
  if (results !== null) await writeExperimentResults(tx, uid, results);
}
