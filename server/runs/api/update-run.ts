/** What can be changed of a run: its name and description always, its priority while it is queued, its result once. */
import type { ExternalResult } from '@switchyard/contract/runs/external-runs.ts';
import type { Writer } from '../../database/database.ts';
import { badRequest, notFound, quoteValue } from '../../http/errors/problem.ts';
import { type ExternalResultParts, storeExternalResult } from '../results/external-result.ts';
import { findRun, updateNameAndDescription, updatePriority } from '../store/runs.ts';
import type { RunsTable } from '../store/schema.ts';

export interface RunChanges {
  name?: string | null;
  description?: string | null;
  queuing_priority?: number | null;
  result?: ExternalResult | null;
}

/** Changes the run, or throws the 400 that says what cannot be changed, and then nothing is. */
export async function updateRun(
  parts: ExternalResultParts,
  run: RunsTable,
  changes: RunChanges,
): Promise<void> {
  // Only what is given is written: what another request changes meanwhile stays changed.
  const names = {
    ...(typeof changes.name === 'string' ? { name: changes.name } : {}),
    ...(typeof changes.description === 'string' ? { description: changes.description } : {}),
  };
  const priority = changes.queuing_priority ?? run.priority;
  const write = async (tx: Writer): Promise<void> => {
    // What is sent back unchanged is let through: clients send the whole object.
    if (priority !== run.priority && !(await updatePriority(tx, run.id, priority))) {
      if (!(await findRun(tx, run.application_uid, run.id)))
        throw notFound(`There is no run ${quoteValue(run.id)}; it was deleted meanwhile.`);
      throw badRequest(
        `queuing_priority is ${priority}, and that of the run is ${run.priority}; only a queued run changes its place.`,
      );
    }
    await updateNameAndDescription(tx, run.id, names);
  };
  if (changes.result) await storeExternalResult(parts, run, changes.result, write);
  else await parts.database.transact(write);
}
