/** Joins a requested run to a batch experiment that has not ended. */
import { BATCH_RUNS_MAX } from '@switchyard/contract/limits.ts';
import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { JoinedExperiment } from '../../runs/submit/create-run.ts';
import { parseBatchDefinition } from '../store/batch-definition.ts';
import { findExperiment, lockExperiment, updateExperiment } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';

/** Returns the experiment that the run joins. Throws a 400 when it does not exist, has ended or is full. */
export async function joinBatch(
  db: Reader,
  application: ApplicationsTable,
  id: ExperimentId,
): Promise<JoinedExperiment> {
  const field = `batch_experiment_id is ${quoteValue(id)}`;
  const requireOpen = (found: ExperimentsTable | undefined): ExperimentsTable => {
    if (!found)
      throw badRequest(
        `${field}; the application ${quoteValue(application.id)} has no such batch experiment.`,
      );
    if (found.status !== 'started')
      throw badRequest(
        `${field}, which is ${found.status}; a run can only join a batch experiment that has not ended.`,
      );
    if (parseBatchDefinition(found).racing)
      throw badRequest(`${field}, which is a race and plans its own runs; join another batch experiment.`);
    if (found.requested >= BATCH_RUNS_MAX)
      throw badRequest(
        `${field}, which has ${found.requested} runs, the maximum of a batch experiment; create another one.`,
      );
    return found;
  };
  const { uid, type } = requireOpen(await findExperiment(db, application.uid, 'batch', id));
  return {
    experiment: { uid, id, type },
    async join(tx) {
      const { requested } = requireOpen(await lockExperiment(tx, uid));
      await updateExperiment(tx, uid, { requested: requested + 1 });
    },
  };
}
