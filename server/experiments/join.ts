/** Lets a run that a caller asks for join a batch experiment that goes on. */
import type { ExperimentId } from '@switchyard/contract/ids.ts';
import { BATCH_RUNS_MAX } from '@switchyard/contract/limits.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import type { Database } from '../database/database.ts';
import { badRequest, shown } from '../http/problem.ts';
import type { Joined } from '../runs/create.ts';
import type { ExperimentsTable } from './schema.ts';
import { findExperiment, holdExperiment, updateExperiment } from './store.ts';

/** The experiment that the run joins; throws the 400 when there is none, or it has ended. */
export async function joinBatch(
  database: Database,
  application: ApplicationsTable,
  id: ExperimentId,
): Promise<Joined> {
  const field = `batch_experiment_id is ${shown(id)}`;
  const open = (found: ExperimentsTable | undefined): ExperimentsTable => {
    if (!found)
      throw badRequest(`${field}; the application ${shown(application.id)} has no such batch experiment.`);
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
    mark: { uid, id, type },
    async join(tx) {
      const { requested } = open(await holdExperiment(tx, uid));
      await updateExperiment(tx, uid, { requested: requested + 1 });
    },
  };
}
