/** Handlers of the operations on switchback tests. */
import { switchback as switchbackType } from '@switchyard/contract/experiment-types/switchback.ts';
import { FAILURES_EMBEDDED_MAX } from '@switchyard/contract/limits.ts';
import { getApplication, lockLiveApplication } from '../../apps/applications/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import type { OperationCall, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithListObject } from '../../platform/http/lists/list-responses.ts';
import { makeId } from '../../platform/random.ts';
import { listRunRefusals } from '../../runs/store/failures.ts';
import {
  type ExperimentAddress,
  parseExperimentChanges,
  writeExperimentChanges,
} from '../operations/experiment-operations.ts';
import { respondWithRuns } from '../operations/experiment-run-lists.ts';
import { listPlanWarnings } from '../results/plan-warnings.ts';
import {
  computePlanEnd,
  parseSwitchbackDefinition,
  readSwitchbackDesign,
} from '../store/online-test-definitions.ts';
import { countPlanDraw } from '../store/plan-draws.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { defineSwitchbackTest } from './define-online-tests.ts';
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

export const createSwitchbackTest: OperationHandler<'createSwitchbackTest'> = async (
  context,
  { caller, params, body, commit },
) => {
  const { database, clock, random } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const definition = defineSwitchbackTest(body, clock.now(), makeId<string>(random, 'seed'));
  const instances: [field: string, id: string][] = [
    ['comparison.baseline_instance_id', definition.baseline],
    ['comparison.candidate_instance_id', definition.candidate],
  ];
  const draft = await prepareDraft(context, switchbackType, {
    caller,
    application,
    body,
    definition,
    instances,
  });
  const formatShared = await formatOnlineTests(database.read, [draft]);
  return commit(async (tx) => {
    // The lock of the application comes first in every transaction that takes several.
    await lockLiveApplication(tx, application);
    const redraws = await countPlanDraw(tx, draft);
    const test = { ...draft, definition: JSON.stringify({ ...definition, redraws }) };
    await insertDraft(tx, switchbackType, application, test);
    return { status: 201, body: formatSwitchbackTestBody(formatShared(test), test) };
  });
};

export const listSwitchbackTests: OperationHandler<'listSwitchbackTests'> = async (
  context,
  { caller, params, query },
) => {
  const request = { caller, applicationId: params.application_id, query };
  const source = await createOnlineTestListSource(context, switchbackType, request, {
    formatBodies: (tests) => formatSwitchbackTests(context.database.read, tests),
  });
  return respondWithListObject(context, source);
};

export const getSwitchbackTest: OperationHandler<'getSwitchbackTest'> = async (context, call) => {
  const { experiment } = await getOwnOnlineTest(context, switchbackType, parseAddress(call));
  const { warnings: _inResults, ...body } = await formatSwitchbackTest(context.database.read, experiment);
  const refusals = await listRunRefusals(context.database.read, experiment.uid, FAILURES_EMBEDDED_MAX);
  return respondWithResults(context, experiment, { ...body, refusals });
};

export const updateSwitchbackTest: OperationHandler<'updateSwitchbackTest'> = async (context, call) => {
  const found = await getOwnOnlineTest(context, switchbackType, parseAddress(call));
  const changes = parseExperimentChanges(context, found.experiment, call.body);
  return call.commitThen(
    (tx) => writeExperimentChanges(tx, switchbackType, found, changes),
    async (changed) => ({ status: 200, body: await formatSwitchbackTest(context.database.read, changed) }),
  );
};

export const deleteSwitchbackTest: OperationHandler<'deleteSwitchbackTest'> = (context, call) =>
  deleteTest(context, switchbackType, parseAddress(call), call);

export const startSwitchbackTest: OperationHandler<'startSwitchbackTest'> = (context, call) =>
  startTest(context, switchbackType, parseAddress(call), call);

export const stopSwitchbackTest: OperationHandler<'stopSwitchbackTest'> = (context, call) =>
  stopTest(context, switchbackType, parseAddress(call), {
    commit: call.commit,
    intent: call.body?.intent ?? 'complete',
  });

export const listSwitchbackTestRuns: OperationHandler<'listSwitchbackTestRuns'> = async (context, call) => {
  const { experiment } = await getOwnOnlineTest(context, switchbackType, parseAddress(call));
  return respondWithRuns(context, { caller: call.caller, experiment }, call.query);
};

export const getSwitchbackTestMetadata: OperationHandler<'getSwitchbackTestMetadata'> = async (
  context,
  call,
) => {
  const { experiment } = await getOwnOnlineTest(context, switchbackType, parseAddress(call));
  return { status: 200, body: await formatSwitchbackTest(context.database.read, experiment) };
};

function parseAddress({
  caller,
  params,
}: Pick<OperationCall<'getSwitchbackTest'>, 'caller' | 'params'>): ExperimentAddress {
  return { caller, applicationId: params.application_id, id: params.switchback_id };
}

async function formatSwitchbackTest(db: Reader, test: ExperimentsTable) {
  return formatSwitchbackTestBody((await formatOnlineTests(db, [test]))(test), test);
}

async function formatSwitchbackTests(db: Reader, tests: readonly ExperimentsTable[]) {
  const shared = await formatOnlineTests(db, tests);
  return tests.map((test) => formatSwitchbackTestBody(shared(test), test));
}

/** A switchback test requests no runs of its own, so the number of requested runs is the number of its runs. */
function formatSwitchbackTestBody(shared: OnlineTestBody, test: ExperimentsTable) {
  const definition = parseSwitchbackDefinition(test);
  const { baseline, candidate, unitMinutes, units, seed, start } = definition;
  const { objectives, primary, guardrails } = definition;
  const { kind, carryOverUnits } = readSwitchbackDesign(definition);
  const end = computePlanEnd(definition);
  return {
    ...shared,
    number_of_requested_runs: shared.number_of_runs,
    stopped_early: test.completed_at !== null && (end === null || test.completed_at < end),
    warnings: listPlanWarnings(definition),
    comparison: { baseline_instance_id: baseline, candidate_instance_id: candidate },
    plan: {
      ...(start === null ? {} : { start: formatRfc3339(start) }),
      units: units.map((instance_id, index) => ({ index, duration_minutes: unitMinutes, instance_id })),
      seed,
      design: kind,
      carry_over_units: carryOverUnits,
      burn_in_minutes: definition.burnInMinutes ?? 0,
      redraws: definition.redraws ?? 0,
    },
    objectives: objectives ?? {},
    ...(primary === undefined ? {} : { primary }),
    ...(guardrails === undefined ? {} : { guardrails }),
  };
}
