/** Changes of a run: its name and description at any time, its priority while it is queued. */
import type { Body } from '@switchyard/contract/operation.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import { findRun, updateNameAndDescription, updatePriority } from '../store/runs.ts';
import type { RunsTable } from '../store/schema.ts';

type RunChanges = Pick<Body<Operations['updateRun']>, 'name' | 'description' | 'queuing_priority'>;

/** Writes the changed fields of the run. Throws a 400 for a priority that cannot change, and a 404 for a deleted run. */
export async function writeRunChanges(tx: Writer, run: RunsTable, changes: RunChanges): Promise<void> {
  // Only fields in the request are written, so that concurrent changes of other fields are kept.
  const names = {
    ...(typeof changes.name === 'string' ? { name: changes.name } : {}),
    ...(typeof changes.description === 'string' ? { description: changes.description } : {}),
  };
  const priority = changes.queuing_priority ?? run.priority;
  // Clients send the whole object, so an unchanged priority is accepted.
  if (priority !== run.priority && !(await updatePriority(tx, run.id, priority))) {
    if (!(await findRun(tx, run.application_uid, run.id)))
      throw notFound(`There is no run ${quoteValue(run.id)}: another request deleted it.`);
    throw badRequest(
      `queuing_priority is ${priority}, and that of the run is ${run.priority}; only a queued run changes its place.`,
    );
  }
  await updateNameAndDescription(tx, run.id, names);
}
