/**
 * Which runs of a batch are its control. A batch compares everything with what was named first; an acceptance test says
 * which side is the control. The published client names the candidate first when it makes the batch of an acceptance
 * test, so the first test on a batch puts its control first.
 */
import type { Reader, Writer } from '../../database/database.ts';
import type { AcceptanceSide } from '../store/acceptance-definition.ts';
import { hasAcceptanceTests } from '../store/acceptance-tests.ts';
import { orderControlFirst, parseBatchDefinition } from '../store/batch-definition.ts';
import { updateExperiment, writeExperimentResults } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { computeBatchResults, readBatchState } from './batch-results.ts';

/** What changes in a batch whose control is another one. */
export interface ControlChange {
  definition: string;
  /** The results against that control; null while the batch has none. */
  results: string | null;
}

/**
 * The change that an acceptance test makes to a batch; null for none: the control is first already, or another test has
 * said which side it is. Results whose runs were deleted since stay as they are.
 */
export async function computeControlChange(
  db: Reader,
  batch: ExperimentsTable,
  control: AcceptanceSide,
): Promise<ControlChange | null> {
  if (await hasAcceptanceTests(db, batch.uid)) return null;
  const before = parseBatchDefinition(batch);
  const after = orderControlFirst(before, control);
  if (
    after.order.instances[0] === before.order.instances[0] &&
    after.order.versions[0] === before.order.versions[0]
  )
    return null;
  const definition = JSON.stringify(after);
  if (batch.status === 'started') return { definition, results: null };
  const { counts } = await readBatchState(db, batch);
  const runs = Object.values(counts.statuses).reduce((sum, count) => sum + count, counts.refused);
  if (runs !== batch.requested) return null;
  return { definition, results: await computeBatchResults(db, { ...batch, definition }) };
}

/** The batch ended, or another acceptance test came first: what changes has to be worked out again. */
export class BatchChangedError extends Error {}

/** Makes the change that was worked out for `known`; `held` is the batch as it is in the transaction. */
export async function applyControlChange(
  tx: Writer,
  known: ExperimentsTable,
  held: ExperimentsTable,
  { definition, results }: ControlChange,
): Promise<void> {
  const { uid, id } = held;
  if (held.status !== known.status || held.definition !== known.definition)
    throw new BatchChangedError(`The batch experiment ${id} changed meanwhile.`);
  await updateExperiment(tx, uid, { definition });
  if (results !== null) await writeExperimentResults(tx, uid, results);
}
