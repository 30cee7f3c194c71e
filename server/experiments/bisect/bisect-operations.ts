/** Handlers of the operations on bisect experiments. */
import { bisect } from '@switchyard/contract/experiment-types/bisect.ts';
import { BisectExperimentResult } from '@switchyard/contract/experiments/bisect/bisect-results.ts';
import { FAILURES_EMBEDDED_MAX } from '@switchyard/contract/limits.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type from 'typebox';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { listRunFailures } from '../../runs/store/failures.ts';
import { removeWaitingPlannedRuns } from '../../runs/store/planned-runs.ts';
import { removeInputs } from '../operations/experiment-ends.ts';
import { defineExperimentHandlers } from '../operations/experiment-handlers.ts';
import { experimentNotFound } from '../operations/experiment-operations.ts';
import { listRefusedRuns } from '../operations/format-experiment.ts';
import { parseBisectDefinition } from '../store/bisect-definition.ts';
import { findExperimentResults, lockExperiment } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { transitionBisect } from '../store/transitions.ts';
import { createBisect } from './create-bisect.ts';
import { defineBisect } from './define-bisect.ts';
import { formatBisect, formatBisectPlan, formatSearch } from './format-bisect.ts';
import { readSearch } from './read-search.ts';

const handlers = defineExperimentHandlers({ settings: bisect, format: formatBisect });

export const createBisectExperiment: OperationHandler<'createBisectExperiment'> = async (
  context,
  { caller, params, body, commit },
) => {
  await context.coreHourLimiter.requireHours(caller.account, params.application_id);
  return createBisect(context, { caller, params, body }, (experiment, insert) =>
    commit(async (tx) => {
      await insert(tx);
      return { status: 201, body: handlers.formatNew(experiment, caller) };
    }),
  );
};

export const planBisectExperiment: OperationHandler<'planBisectExperiment'> = async (
  { database },
  { caller, params, body },
) => {
  const { definition } = await defineBisect(database.read, { caller, params, body });
  return { status: 200, body: formatBisectPlan(definition) };
};

export const listBisectExperiments: OperationHandler<'listBisectExperiments'> = async (context, call) =>
  respondWithList(context, await handlers.createListSource(context, call));

export const getBisectExperiment: OperationHandler<'getBisectExperiment'> = async (context, call) => {
  const { read } = context.database;
  const { experiment } = await handlers.find(context, call);
  return {
    status: 200,
    body: {
      ...(await handlers.read(context, experiment, call.caller)),
      refused_runs: await listRefusedRuns(read, experiment),
      failures: await listRunFailures(read, experiment.uid, FAILURES_EMBEDDED_MAX),
      ...(await readResult(read, experiment)),
    },
  };
};

export const getBisectExperimentMetadata: OperationHandler<'getBisectExperimentMetadata'> =
  handlers.getMetadata;
export const listBisectExperimentRuns: OperationHandler<'listBisectExperimentRuns'> = handlers.listRuns;
export const updateBisectExperiment: OperationHandler<'updateBisectExperiment'> = handlers.update;
export const deleteBisectExperiment: OperationHandler<'deleteBisectExperiment'> = handlers.delete;

export const stopBisectExperiment: OperationHandler<'stopBisectExperiment'> = async (context, call) => {
  const { clock, contents, database } = context;
  const { application, experiment } = await handlers.find(context, call);
  const { uid, id } = experiment;
  return call.commitThen(
    async (tx) => {
      const locked = await lockExperiment(tx, uid);
      if (!locked) throw experimentNotFound(bisect, application, id);
      if (locked.status === 'canceled') return [];
      if (locked.status !== 'started')
        throw badRequest(
          `The bisect experiment ${quoteValue(id)} is ${locked.status}; only a started one can be stopped.`,
        );
      const now = clock.now();
      const ending = { completed_at: now, updated_at: now };
      await transitionBisect(tx, uid, { from: 'started', to: 'canceled' }, ending);
      await removeWaitingPlannedRuns(tx, uid);
      return removeInputs(contents, tx, uid);
    },
    async (blobs) => {
      // Wakes the job that cancels the unfinished runs.
      database.notify('runs-canceled');
      await contents.removeBlobs(blobs);
      return { status: 204 };
    },
  );
};

const parseResult = createJsonParser(
  Type.Object({ ...BisectExperimentResult.properties, method: Type.Optional(Type.String()) }),
);

/** Returns the stored result of a search that has ended, otherwise its state so far. */
async function readResult(db: Reader, experiment: ExperimentsTable): Promise<BisectExperimentResult> {
  const stored = await findExperimentResults(db, experiment.uid);
  if (stored !== undefined) {
    const { method: _, ...result } = parseResult(stored, `experiment_results.results of ${experiment.uid}`);
    return result;
  }
  const state = await readSearch(db, experiment);
  return formatSearch(parseBisectDefinition(experiment), state, experiment.status === 'canceled');
}
