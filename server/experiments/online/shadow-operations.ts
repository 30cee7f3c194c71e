/** Handlers of the operations on shadow tests. */
import { getApplication } from '../../applications/store.ts';
import { formatRfc3339 } from '../../clock.ts';
import type { Reader } from '../../database/database.ts';
import type { OperationCall, OperationHandler } from '../../http/handlers/handler.ts';
import { respondWithList } from '../../http/lists/list-responses.ts';
import { listShadowRuns } from '../../runs/store/experiment-runs.ts';
import {
  type ExperimentAddress,
  parseExperimentChanges,
  writeExperimentChanges,
} from '../operations/experiment-operations.ts';
import { respondWithRuns } from '../operations/experiment-run-lists.ts';
import { listRefusedRuns } from '../operations/format-experiment.ts';
import { DEFAULT_CLUSTERINGS, parseShadowDefinition } from '../store/online-test-definitions.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { defineShadowTest } from './define-online-tests.ts';
import {
  createOnlineTestListSource,
  deleteTest,
  formatOnlineTests,
  getOwnOnlineTest,
  insertDraft,
  type OnlineTestBody,
  type OnlineTestKind,
  prepareDraft,
  respondWithResults,
  startTest,
  stopTest,
} from './online-test-operations.ts';
import { describeProgress } from './online-test-results.ts';

const SHADOW: OnlineTestKind = { kind: 'shadow', displayName: 'shadow test' };

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
  const draft = await prepareDraft(context, SHADOW, { caller, application, body, definition, instances });
  const test = await formatShadowTest(database.read, draft);
  return commit(async (tx) => {
    await insertDraft(tx, SHADOW, application, draft);
    return { status: 201, body: test };
  });
};

export const listShadowTests: OperationHandler<'listShadowTests'> = async (
  context,
  { caller, params, query },
) => {
  const request = { caller, applicationId: params.application_id, query };
  const source = await createOnlineTestListSource(context, SHADOW, request, {
    formatBodies: (tests) => formatShadowTests(context.database.read, tests),
  });
  return respondWithList(context.pageTokens, source);
};

export const getShadowTest: OperationHandler<'getShadowTest'> = async (context, call) => {
  const { experiment } = await getOwnOnlineTest(context, SHADOW, parseAddress(call));
  const refused_runs = await listRefusedRuns(context.database.read, experiment);
  const body = { ...(await formatShadowTest(context.database.read, experiment)), refused_runs };
  return respondWithResults(body, await context.onlineTestResults.read(experiment));
};

export const updateShadowTest: OperationHandler<'updateShadowTest'> = async (context, call) => {
  const found = await getOwnOnlineTest(context, SHADOW, parseAddress(call));
  const changes = parseExperimentChanges(context, found.experiment, call.body);
  return call.commitThen(
    (tx) => writeExperimentChanges(tx, SHADOW, found, changes),
    async (changed) => ({ status: 200, body: await formatShadowTest(context.database.read, changed) }),
  );
};

export const deleteShadowTest: OperationHandler<'deleteShadowTest'> = (context, call) =>
  deleteTest(context, SHADOW, parseAddress(call), call);

export const startShadowTest: OperationHandler<'startShadowTest'> = (context, call) =>
  startTest(context, SHADOW, parseAddress(call), call);

export const stopShadowTest: OperationHandler<'stopShadowTest'> = (context, call) =>
  stopTest(context, SHADOW, parseAddress(call), {
    commit: call.commit,
    intent: call.body?.intent ?? 'complete',
  });

export const listShadowTestRuns: OperationHandler<'listShadowTestRuns'> = async (context, call) => {
  const { experiment } = await getOwnOnlineTest(context, SHADOW, parseAddress(call));
  return respondWithRuns(context, { caller: call.caller, experiment, listRuns: listShadowRuns }, call.query);
};

export const getShadowTestMetadata: OperationHandler<'getShadowTestMetadata'> = async (context, call) => {
  const { experiment } = await getOwnOnlineTest(context, SHADOW, parseAddress(call));
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
    sample_share: definition.sampleShare ?? 1,
    cluster_by: definition.clusterBy ?? DEFAULT_CLUSTERINGS,
    objectives: objectives ?? {},
    ...(primary === undefined ? {} : { primary }),
    ...(guardrails === undefined ? {} : { guardrails }),
  };
}
