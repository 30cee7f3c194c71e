/** Handlers of the operations on batch experiments and scenario tests. */
import { hash } from 'node:crypto';
import { batch } from '@switchyard/contract/experiment-types/batch.ts';
import type { BatchExperimentInfo } from '@switchyard/contract/experiments/batch-experiments.ts';
import { BATCH_RUNS_EMBEDDED_MAX, FAILURES_EMBEDDED_MAX } from '@switchyard/contract/limits.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { OperationHandler, RawResponse } from '../../platform/http/handlers/handler.ts';
import { respondCompressed, respondWithList } from '../../platform/http/lists/list-responses.ts';
import { acceptsGzip } from '../../platform/http/send-response.ts';
import { type ExperimentCounts, listRunDescriptions } from '../../runs/store/experiment-runs.ts';
import { listRunFailures } from '../../runs/store/failures.ts';
import { formatRunSettings } from '../operations/build-run-plan.ts';
import { defineExperimentHandlers } from '../operations/experiment-handlers.ts';
import { respondWithEmbeddedRuns } from '../operations/experiment-run-lists.ts';
import { formatExperiment, formatProgress, listRefusedRuns } from '../operations/format-experiment.ts';
import { formatQuestion } from '../questions/describe-question.ts';
import { formatRace } from '../racing/format-race.ts';
import { deleteAcceptanceTestsOfBatch } from '../store/acceptance-tests.ts';
import { type BatchDefinition, parseBatchDefinition } from '../store/batch-definition.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { readBatchResults, readBatchState, rememberBatch } from './batch-results.ts';
import { createBatch } from './create-batch.ts';

const handlers = defineExperimentHandlers({
  settings: batch,
  format: formatBatch,
  remember: rememberBatch,
  deleteParts: (tx, { uid }) => deleteAcceptanceTestsOfBatch(tx, uid),
});

export const createBatchExperiment: OperationHandler<'createBatchExperiment'> = async (
  context,
  { caller, params, body, commit },
) => {
  await context.coreHourLimiter.requireHours(caller.account, params.application_id);
  return createBatch(context, { caller, params, body }, (experiment, insert) =>
    commit(async (tx) => {
      await insert(tx);
      const planned = parseBatchDefinition(experiment).racing?.planned_runs ?? experiment.requested;
      return { status: 201, body: handlers.formatNew(experiment, caller, planned) };
    }),
  );
};

export const listBatchExperiments: OperationHandler<'listBatchExperiments'> = async (context, call) => {
  const type = call.query.type ?? null;
  return respondWithList(context, await handlers.createListSource(context, call, type));
};

export const getBatchExperiment: OperationHandler<'getBatchExperiment'> = async (context, call) => {
  const { database } = context;
  const { caller } = call;
  const { experiment } = await handlers.find(context, call);
  const { read } = database;
  const { key, counts } = await readBatchState(read, experiment);
  // The results repeat the warnings of the plan.
  const { warnings: _, ...info } = formatBatch(experiment, counts, caller.role);
  const formatHead = async (): Promise<string> =>
    JSON.stringify({
      ...info,
      refused_runs: await listRefusedRuns(read, experiment),
      failures: await listRunFailures(read, experiment.uid, FAILURES_EMBEDDED_MAX),
      ...formatQuestion(await context.questionMemory.read(experiment.uid)),
    });
  const respond = (head: string, results: string): Promise<RawResponse> => {
    // The results can be megabytes and are JSON already, so they are not parsed.
    const object = `${head.slice(0, -1)},${results.slice(1)}`;
    return respondWithEmbeddedRuns(context, { caller, experiment }, object, BATCH_RUNS_EMBEDDED_MAX);
  };
  if (!['completed', 'failed'].includes(experiment.status) || !acceptsGzip(call.headers)) {
    // Computing the results stores the question, which the head has.
    const results = await readBatchResults(context, experiment, key);
    return respond(await formatHead(), results);
  }
  const runs = await listRunDescriptions(read, experiment.uid, BATCH_RUNS_EMBEDDED_MAX);
  const head = await formatHead();
  const parts = [experiment.uid, experiment.definition, key, caller.role, head, runs];
  return respondCompressed(context, hash('sha256', JSON.stringify(parts), 'base64'), async () =>
    respond(head, await readBatchResults(context, experiment, key)),
  );
};

export const getBatchExperimentMetadata: OperationHandler<'getBatchExperimentMetadata'> =
  handlers.getMetadata;
export const listBatchExperimentRuns: OperationHandler<'listBatchExperimentRuns'> = handlers.listRuns;
export const updateBatchExperiment: OperationHandler<'updateBatchExperiment'> = handlers.update;

export const deleteBatchExperiment: OperationHandler<'deleteBatchExperiment'> = async (context, call) => {
  const { experiment } = await handlers.find(context, call);
  const committed = await handlers.delete(context, call);
  context.batchResultsCache.evict(experiment.uid);
  return committed;
};

/** Returns the experiment without the options that are hidden from the role. */
function formatBatch(
  experiment: ExperimentsTable,
  counts: ExperimentCounts,
  role: Role,
): BatchExperimentInfo {
  const { input_set_id, instance_ids, option_sets, objectives, primary, guardrails, hidden, ...plan } =
    parseBatchDefinition(experiment);
  const isHidden = (name: string): boolean =>
    Object.hasOwn(hidden, name) && (hidden[name]?.includes(role) ?? false);
  const omitHidden = (options: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(options).filter(([name]) => !isHidden(name)));
  return {
    ...formatExperiment(experiment),
    type: experiment.type === 'scenario' ? 'scenario' : 'batch',
    input_set_id,
    instance_ids,
    option_sets: Object.fromEntries(
      Object.entries(option_sets).map(([key, options]) => [key, omitHidden(options)]),
    ),
    ...formatSeeds(plan, isHidden(plan.seed_option ?? '')),
    run_order: plan.run_order,
    ...(objectives === null ? {} : { objectives }),
    ...(primary === undefined ? {} : { primary }),
    ...(guardrails === undefined ? {} : { guardrails }),
    ...(plan.cluster_by === undefined ? {} : { cluster_by: plan.cluster_by }),
    ...(plan.features === undefined ? {} : { features: plan.features }),
    ...(plan.racing === undefined ? {} : { racing: formatRace(plan.racing) }),
    ...formatRunSettings(plan),
    ...(plan.warnings === undefined ? {} : { warnings: plan.warnings }),
    ...(experiment.completed_at === null ? {} : { completed_at: formatRfc3339(experiment.completed_at) }),
    ...formatProgress(experiment, counts),
  };
}

/** Returns the seeds, unless their option is hidden from the role. */
function formatSeeds(
  { seeds, seed_option }: Pick<BatchDefinition, 'seeds' | 'seed_option'>,
  isHidden: boolean,
): Pick<BatchExperimentInfo, 'seeds' | 'seed_option'> {
  return seeds === undefined || seed_option === undefined || isHidden ? {} : { seeds, seed_option };
}
