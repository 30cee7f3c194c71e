/** Handlers of the operations on bisect experiments. */
import { bisect as bisectType } from '@switchyard/contract/experiment-types/bisect.ts';
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
import {
  createExperimentListSource,
  experimentNotFound,
  getOwnExperiment,
  markExperimentDeleted,
  parseExperimentChanges,
  writeExperimentChanges,
} from '../operations/experiment-operations.ts';
import { respondWithRuns } from '../operations/experiment-run-lists.ts';
import { countRunsByExperiment, listRefusedRuns } from '../operations/format-experiment.ts';
import { parseBisectDefinition } from '../store/bisect-definition.ts';
import { findExperimentResults, lockExperiment } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { transitionBisect } from '../store/transitions.ts';
import { removeInputs } from './advance-bisects.ts';
import { createBisect } from './create-bisect.ts';
import { defineBisect } from './define-bisect.ts';
import { formatBisect, formatBisectPlan, formatSearch } from './format-bisect.ts';
import { readSearch } from './read-search.ts';

export const createBisectExperiment: OperationHandler<'createBisectExperiment'> = async (
  context,
  { caller, params, body, commit },
) => {
  await context.coreHourLimiter.requireHours(caller.account, params.application_id);
  return createBisect(context, { caller, params, body }, (experiment, insert) =>
    commit(async (tx) => {
      await insert(tx);
      const counts = { statuses: {}, planned: experiment.requested, refused: 0 };
      return { status: 201, body: formatBisect(experiment, counts) };
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

export const listBisectExperiments: OperationHandler<'listBisectExperiments'> = async (
  context,
  { caller, params, query },
) => {
  const { database, pageTokens, log } = context;
  const request = { caller, applicationId: params.application_id, query };
  const source = await createExperimentListSource(context, bisectType, request, {
    async formatBodies(experiments) {
      const counts = await countRunsByExperiment(database.read, experiments);
      return experiments.map((experiment) => formatBisect(experiment, counts(experiment)));
    },
  });
  return respondWithList({ pageTokens, log }, source);
};

export const getBisectExperiment: OperationHandler<'getBisectExperiment'> = async (
  context,
  { caller, params },
) => {
  const { read } = context.database;
  const address = { caller, applicationId: params.application_id, id: params.bisect_id };
  const { experiment } = await getOwnExperiment(context, bisectType, address);
  return {
    status: 200,
    body: {
      ...(await readBisect(read, experiment)),
      refused_runs: await listRefusedRuns(read, experiment),
      failures: await listRunFailures(read, experiment.uid, FAILURES_EMBEDDED_MAX),
      ...(await readResult(read, experiment)),
    },
  };
};

export const getBisectExperimentMetadata: OperationHandler<'getBisectExperimentMetadata'> = async (
  context,
  { caller, params },
) => {
  const address = { caller, applicationId: params.application_id, id: params.bisect_id };
  const { experiment } = await getOwnExperiment(context, bisectType, address);
  return { status: 200, body: await readBisect(context.database.read, experiment) };
};

export const updateBisectExperiment: OperationHandler<'updateBisectExperiment'> = async (
  context,
  { caller, params, body, commitThen },
) => {
  const address = { caller, applicationId: params.application_id, id: params.bisect_id };
  const found = await getOwnExperiment(context, bisectType, address);
  const changes = parseExperimentChanges(context, address, body);
  return commitThen(
    (tx) => writeExperimentChanges(tx, bisectType, found, changes),
    async (changed) => ({ status: 200, body: await readBisect(context.database.read, changed) }),
  );
};

export const listBisectExperimentRuns: OperationHandler<'listBisectExperimentRuns'> = async (
  context,
  { caller, params, query },
) => {
  const address = { caller, applicationId: params.application_id, id: params.bisect_id };
  const { experiment } = await getOwnExperiment(context, bisectType, address);
  return respondWithRuns(context, { caller, experiment }, query);
};

export const stopBisectExperiment: OperationHandler<'stopBisectExperiment'> = async (
  context,
  { caller, params, commitThen },
) => {
  const { clock, contents, database } = context;
  const address = { caller, applicationId: params.application_id, id: params.bisect_id };
  const { application, experiment } = await getOwnExperiment(context, bisectType, address);
  const { uid, id } = experiment;
  return commitThen(
    async (tx) => {
      const locked = await lockExperiment(tx, uid);
      if (!locked) throw experimentNotFound(bisectType, application, id);
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

export const deleteBisectExperiment: OperationHandler<'deleteBisectExperiment'> = async (
  context,
  { caller, params, commit },
) => {
  const address = { caller, applicationId: params.application_id, id: params.bisect_id };
  const found = await getOwnExperiment(context, bisectType, address);
  const committed = await commit(async (tx) => {
    await markExperimentDeleted(tx, bisectType, found, context.clock.now());
    return { status: 204 };
  });
  context.onExperimentDeleted();
  return committed;
};

async function readBisect(db: Reader, experiment: ExperimentsTable) {
  return formatBisect(experiment, (await countRunsByExperiment(db, [experiment]))(experiment));
}

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
