/** Handlers of the operations on shadow tests. */

import { shadow } from '@switchyard/contract/experiment-types/shadow.ts';
import { readMeaning } from '../../apps/applications/meaning.ts';
import { lockLiveApplication } from '../../apps/applications/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { listShadowRuns } from '../../runs/store/experiment-runs.ts';
import { insertOwnExperiment } from '../operations/experiment-operations.ts';
import { listRefusedRuns } from '../operations/format-experiment.ts';
import { parseShadowDefinition } from '../store/online-test-definitions.ts';
import { defineShadowTest } from './define-online-tests.ts';
import {
  defineOnlineTestHandlers,
  formatComparisonSettings,
  prepareDraft,
  respondWithResults,
} from './online-test-operations.ts';
import { describeProgress } from './online-test-results.ts';

const handlers = defineOnlineTestHandlers({
  settings: shadow,
  listRuns: listShadowRuns,
  formatOwn(test) {
    const definition = parseShadowDefinition(test);
    const { baseline, candidates, from, until, maximumRuns } = definition;
    return {
      stopped_early: describeProgress(test) === 'stopped',
      comparison: { baseline_instance_id: baseline, candidate_instance_id: candidates[0] ?? '' },
      comparisons: [{ baseline_instance_id: baseline, candidate_instance_ids: candidates }],
      start_events: from === null ? {} : { time: formatRfc3339(from) },
      termination_events: {
        maximum_runs: maximumRuns,
        ...(until === null ? {} : { time: formatRfc3339(until) }),
      },
      sample_share: definition.sampleShare,
      cluster_by: definition.clusterBy,
      ...formatComparisonSettings(definition),
    };
  },
});

export const createShadowTest: OperationHandler<'createShadowTest'> = async (context, call) => {
  const { body, caller } = call;
  const { application, draft } = await prepareDraft(context, shadow.kind, call, (application) => {
    const definition = defineShadowTest(body, readMeaning(application).objective, context.clock.now());
    const { baseline, candidates } = definition;
    const [baselineField, candidateField] = body.comparison
      ? (['comparison.baseline_instance_id', 'comparison.candidate_instance_id'] as const)
      : (['comparisons', `comparisons.${baseline}`] as const);
    const instances = [
      [baselineField, baseline] as const,
      ...candidates.map((id) => [candidateField, id] as const),
    ];
    return { definition, instances };
  });
  const test = await handlers.read(context, draft, caller);
  return call.commit(async (tx) => {
    await lockLiveApplication(tx, application);
    await insertOwnExperiment(tx, draft);
    return { status: 201, body: test };
  });
};

export const listShadowTests: OperationHandler<'listShadowTests'> = async (context, call) =>
  respondWithList(context, await handlers.createListSource(context, call));

export const getShadowTest: OperationHandler<'getShadowTest'> = async (context, call) => {
  const { experiment } = await handlers.find(context, call);
  const refused_runs = await listRefusedRuns(context.database.read, experiment);
  const body = { ...(await handlers.read(context, experiment, call.caller)), refused_runs };
  return respondWithResults(context, experiment, body);
};

export const getShadowTestMetadata: OperationHandler<'getShadowTestMetadata'> = handlers.getMetadata;
export const listShadowTestRuns: OperationHandler<'listShadowTestRuns'> = handlers.listRuns;
export const updateShadowTest: OperationHandler<'updateShadowTest'> = handlers.update;
export const deleteShadowTest: OperationHandler<'deleteShadowTest'> = handlers.delete;
export const startShadowTest: OperationHandler<'startShadowTest'> = handlers.start;
export const stopShadowTest: OperationHandler<'stopShadowTest'> = handlers.stop;
