/** Lets a run that a caller asks for join a batch experiment that goes on. */

import { BATCH_RUNS_MAX } from '@switchyard/contract/limits.ts';
import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../applications/schema.ts';
import type { Database } from '../../database/database.ts';
import { badRequest, quoteValue } from '../../http/errors/problem.ts';
import type { JoinedExperiment } from '../../runs/submit/create-run.ts';
import { findExperiment, lockExperiment, updateExperiment } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';

/** The experiment that the run joins; throws the 400 when there is none, or it has ended. */
export async function joinBatch(
  database: Database,
  application: ApplicationsTable,
  id: ExperimentId,
): Promise<JoinedExperiment> {
  const field = `batch_experiment_id is ${quoteValue(id)}`;
  const open = (found: ExperimentsTable | undefined): ExperimentsTable => {
    if (!found)
      throw badRequest(
        `${field}; the application ${quoteValue(application.id)} has no such batch experiment.`,
      );
    if (found.status !== 'started')
      throw badRequest(`${field}, which is ${found.status}; a run can join one that has not ended.`);
    if (found.requested >= BATCH_RUNS_MAX)
      throw badRequest(
        `${field}, which has ${found.requested} runs; a batch experiment may have ${BATCH_RUNS_MAX}.`,
      );
    return found;
  };
  const { uid, type } = open(await findExperiment(database.read, application.uid, 'batch', id));
  return {
    experiment: { uid, id, type },
    async join(tx) {
      const { requested } = open(await lockExperiment(tx, uid));
      await updateExperiment(tx, uid, { requested: requested + 1 });
    },
  };
}
