/** Handlers of the operations on batch experiments and scenario tests. */
import { BATCH_RUNS_EMBEDDED_MAX, FAILURES_EMBEDDED_MAX } from '@switchyard/contract/limits.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { Context } from '../../http/handlers/context.ts';
import type { OperationHandler } from '../../http/handlers/handler.ts';
import { respondWithList } from '../../http/lists/list-responses.ts';
import { listRunFailures } from '../../runs/store/failures.ts';
import type { PropertyReader } from '../input-properties/property-reader.ts';
import {
  createExperimentListSource,
  type ExperimentKindSettings,
  getOwnExperiment,
  markExperimentDeleted,
  parseExperimentChanges,
  writeExperimentChanges,
} from '../operations/experiment-operations.ts';
import { respondWithEmbeddedRuns, respondWithRuns } from '../operations/experiment-run-lists.ts';
import { countRunsByExperiment, listRefusedRuns } from '../operations/format-experiment.ts';
import type { ResultsCache } from '../results/results-cache.ts';
import type { ResultsWorkerPool } from '../results/results-worker-pool.ts';
import { deleteAcceptanceTestsOfBatch } from '../store/acceptance-tests.ts';
import { parseBatchDefinition } from '../store/batch-definition.ts';
import { findExperimentResults } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { computeBatchResults, readBatchState } from './batch-results.ts';
import { createBatch } from './create-batch.ts';
import { formatBatch } from './format-batch.ts';

declare module '../../http/handlers/context.ts' {
  interface Context {
    /** Results of batch experiments that have not ended. */
    batchResultsCache: ResultsCache;
    resultsWorkerPool: ResultsWorkerPool;
    /** Reads the fields of inputs that an experiment names. */
    propertyReader: PropertyReader;
  }
}

const BATCH: ExperimentKindSettings = { kind: 'batch', displayName: 'batch experiment' };

export const createBatchExperiment: OperationHandler<'createBatchExperiment'> = async (
  context,
  { caller, params, body, commit },
) => {
  await context.coreHourLimiter.requireHours(caller.account, params.application_id);
  return createBatch(context, { caller, params, body }, (experiment, insert) =>
    commit(async (tx) => {
      await insert(tx);
      const planned = parseBatchDefinition(experiment).racing?.planned_runs ?? experiment.requested;
      const counts = { statuses: {}, planned, refused: 0 };
      return { status: 201, body: formatBatch(experiment, counts, caller.role) };
    }),
  );
};

export const listBatchExperiments: OperationHandler<'listBatchExperiments'> = async (
  context,
  { caller, params, query },
) => {
  const { database, pageTokens } = context;
  const request = { caller, applicationId: params.application_id, query };
  const source = await createExperimentListSource(context, BATCH, request, {
    type: query.type === 'scenario' ? 'scenario' : query.type === 'batch' ? 'batch' : null,
    async formatBodies(experiments) {
      const counts = await countRunsByExperiment(database.read, experiments);
      return experiments.map((experiment) => formatBatch(experiment, counts(experiment), caller.role));
    },
  });
  return respondWithList(pageTokens, source);
};

export const getBatchExperiment: OperationHandler<'getBatchExperiment'> = async (context, call) => {
  const { database } = context;
  const { caller, params } = call;
  const { experiment } = await getOwnExperiment(context, BATCH, {
    caller,
    applicationId: params.application_id,
    id: params.batch_id as ExperimentId,
  });
  const { key, counts } = await readBatchState(database.read, experiment);
  // The results repeat the warnings of the plan.
  const { warnings: _, ...info } = formatBatch(experiment, counts, caller.role);
  const head = JSON.stringify({
    ...info,
    refused_runs: await listRefusedRuns(database.read, experiment),
    failures: await listRunFailures(database.read, experiment.uid, FAILURES_EMBEDDED_MAX),
  });
  // The results can be megabytes and are JSON already, so they are not parsed.
  const results = await readResults(context, experiment, key);
  const object = `${head.slice(0, -1)},${results.slice(1)}`;
  return respondWithEmbeddedRuns(context, { caller, experiment }, object, BATCH_RUNS_EMBEDDED_MAX);
};

export const getBatchExperimentMetadata: OperationHandler<'getBatchExperimentMetadata'> = async (
  context,
  { caller, params },
) => {
  const address = { caller, applicationId: params.application_id, id: params.batch_id };
  const { experiment } = await getOwnExperiment(context, BATCH, address);
  return { status: 200, body: await readBatch(context, experiment, caller.role) };
};

export const listBatchExperimentRuns: OperationHandler<'listBatchExperimentRuns'> = async (
  context,
  { caller, params, query },
) => {
  const address = { caller, applicationId: params.application_id, id: params.batch_id };
  const { experiment } = await getOwnExperiment(context, BATCH, address);
  return respondWithRuns(context, { caller, experiment }, query);
};

export const updateBatchExperiment: OperationHandler<'updateBatchExperiment'> = async (
  context,
  { caller, params, body, commitThen },
) => {
  const address = { caller, applicationId: params.application_id, id: params.batch_id };
  const found = await getOwnExperiment(context, BATCH, address);
  const changes = parseExperimentChanges(context, address, body);
  return commitThen(
    (tx) => writeExperimentChanges(tx, BATCH, found, changes),
    async (changed) => ({ status: 200, body: await readBatch(context, changed, caller.role) }),
  );
};

export const deleteBatchExperiment: OperationHandler<'deleteBatchExperiment'> = async (
  context,
  { caller, params, commit },
) => {
  const address = { caller, applicationId: params.application_id, id: params.batch_id };
  const found = await getOwnExperiment(context, BATCH, address);
  const { uid } = found.experiment;
  const committed = await commit(async (tx) => {
    await markExperimentDeleted(tx, BATCH, found, context.clock.now());
    await deleteAcceptanceTestsOfBatch(tx, uid);
    return { status: 204 };
  });
  context.onExperimentDeleted();
  context.batchResultsCache.evict(uid);
  return committed;
};

async function readBatch({ database }: Pick<Context, 'database'>, experiment: ExperimentsTable, role: Role) {
  const counts = await countRunsByExperiment(database.read, [experiment]);
  return formatBatch(experiment, counts(experiment), role);
}

/** Returns the results as JSON: the stored ones of a batch that has ended, otherwise those of the runs so far. */
async function readResults(
  context: Pick<Context, 'database' | 'batchResultsCache' | 'resultsWorkerPool'>,
  experiment: ExperimentsTable,
  key: string,
): Promise<string> {
  const { database, batchResultsCache } = context;
  const { uid } = experiment;
  const stored = await findExperimentResults(database.read, uid);
  if (stored === undefined)
    return batchResultsCache.getOrCompute(uid, key, () =>
      computeBatchResults(context, experiment, 'running'),
    );
  batchResultsCache.evict(uid);
  return stored;
}
