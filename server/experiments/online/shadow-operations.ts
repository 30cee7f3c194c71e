/** Handlers of the operations on shadow tests. */
import { shadow as shadowType } from '@switchyard/contract/experiment-types/shadow.ts';
import { getApplication } from '../../apps/applications/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import type { OperationCall, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { listShadowRuns } from '../../runs/store/experiment-runs.ts';
import {
  type ExperimentAddress,
  parseExperimentChanges,
  writeExperimentChanges,
} from '../operations/experiment-operations.ts';
import { respondWithRuns } from '../operations/experiment-run-lists.ts';
import { listRefusedRuns } from '../operations/format-experiment.ts';
import { parseShadowDefinition } from '../store/online-test-definitions.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { defineShadowTest } from './define-online-tests.ts';
import {
  createOnlineTestListSource,
  deleteTest,
  formatOnlineTests,
  getOwnOnlineTest,
  insertDraft,
  type OnlineTestBody,
  prepareDraft,
  respondWithResults,
  startTest,
  stopTest,
} from './online-test-operations.ts';
import { describeProgress } from './online-test-results.ts';

export const createShadowTest: OperationHandler<'createShadowTest'> = async (
  context,
  { caller, params, body, commit },
) => {
  const { database, clock } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const definition = defineShadowTest(body, clock.now());
  const { baseline, candidates } = definition;
  const [baselineField, candidateField] = body.comparison
    ? (['comparison.baseline_instance_id', 'comparison.candidate_instance_id'] as const)
    : (['comparisons', `comparisons.${baseline}`] as const);
  const instances: [field: string, id: string][] = [
    [baselineField, baseline],
    ...candidates.map((id): [string, string] => [candidateField, id]),
  ];
  const draft = await prepareDraft(context, shadowType, { caller, application, body, definition, instances });
  const test = await formatShadowTest(database.read, draft);
  return commit(async (tx) => {
    await insertDraft(tx, shadowType, application, draft);
    return { status: 201, body: test };
  });
};

export const listShadowTests: OperationHandler<'listShadowTests'> = async (
  context,
  { caller, params, query },
) => {
  const request = { caller, applicationId: params.application_id, query };
  const source = await createOnlineTestListSource(context, shadowType, request, {
    formatBodies: (tests) => formatShadowTests(context.database.read, tests),
  });
  return respondWithList(context, source);
};

export const getShadowTest: OperationHandler<'getShadowTest'> = async (context, call) => {
  const { experiment } = await getOwnOnlineTest(context, shadowType, parseAddress(call));
  const refused_runs = await listRefusedRuns(context.database.read, experiment);
  const body = { ...(await formatShadowTest(context.database.read, experiment)), refused_runs };
  return respondWithResults(context, experiment, body);
};

export const updateShadowTest: OperationHandler<'updateShadowTest'> = async (context, call) => {
  const found = await getOwnOnlineTest(context, shadowType, parseAddress(call));
  const changes = parseExperimentChanges(context, found.experiment, call.body);
  return call.commitThen(
    (tx) => writeExperimentChanges(tx, shadowType, found, changes),
    async (changed) => ({ status: 200, body: await formatShadowTest(context.database.read, changed) }),
  );
};

export const deleteShadowTest: OperationHandler<'deleteShadowTest'> = (context, call) =>
  deleteTest(context, shadowType, parseAddress(call), call);

export const startShadowTest: OperationHandler<'startShadowTest'> = (context, call) =>
  startTest(context, shadowType, parseAddress(call), call);

export const stopShadowTest: OperationHandler<'stopShadowTest'> = (context, call) =>
  stopTest(context, shadowType, parseAddress(call), {
    commit: call.commit,
    intent: call.body?.intent ?? 'complete',
  });

export const listShadowTestRuns: OperationHandler<'listShadowTestRuns'> = async (context, call) => {
  const { experiment } = await getOwnOnlineTest(context, shadowType, parseAddress(call));
  return respondWithRuns(context, { caller: call.caller, experiment, listRuns: listShadowRuns }, call.query);
};

export const getShadowTestMetadata: OperationHandler<'getShadowTestMetadata'> = async (context, call) => {
  const { experiment } = await getOwnOnlineTest(context, shadowType, parseAddress(call));
  return { status: 200, body: await formatShadowTest(context.database.read, experiment) };
};

function parseAddress({
  caller,
  params,
}: Pick<OperationCall<'getShadowTest'>, 'caller' | 'params'>): ExperimentAddress {
  return { caller, applicationId: params.application_id, id: params.shadow_id };
}

async function formatShadowTest(db: Reader, test: ExperimentsTable) {
  return formatShadowTestBody((await formatOnlineTests(db, [test]))(test), test);
}

async function formatShadowTests(db: Reader, tests: readonly ExperimentsTable[]) {
  const shared = await formatOnlineTests(db, tests);
  return tests.map((test) => formatShadowTestBody(shared(test), test));
}

function formatShadowTestBody(shared: OnlineTestBody, test: ExperimentsTable) {
  const definition = parseShadowDefinition(test);
  const { baseline, candidates, from, until, maximumRuns } = definition;
  const { objectives, primary, guardrails } = definition;
  return {
    ...shared,
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
    objectives: objectives ?? {},
    ...(primary === undefined ? {} : { primary }),
    ...(guardrails === undefined ? {} : { guardrails }),
  };
}
