/** Handlers of the operations on switchback tests. */

import { switchback } from '@switchyard/contract/experiment-types/switchback.ts';
import { FAILURES_EMBEDDED_MAX } from '@switchyard/contract/limits.ts';
import { readMeaning } from '../../apps/applications/meaning.ts';
import { lockLiveApplication } from '../../apps/applications/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithListObject } from '../../platform/http/lists/list-responses.ts';
import { makeId } from '../../platform/random.ts';
import { listRunRefusals } from '../../runs/store/failures.ts';
import { insertOwnExperiment } from '../operations/experiment-operations.ts';
import { listPlanWarnings } from '../results/plan-warnings.ts';
import {
  computePlanEnd,
  parseSwitchbackDefinition,
  readSwitchbackDesign,
} from '../store/online-test-definitions.ts';
import { countPlanDraw } from '../store/plan-draws.ts';
import { defineSwitchbackTest } from './define-online-tests.ts';
import {
  defineOnlineTestHandlers,
  formatComparisonSettings,
  prepareDraft,
  respondWithResults,
} from './online-test-operations.ts';

const handlers = defineOnlineTestHandlers({
  settings: switchback,
  formatOwn(test, { number_of_runs }) {
    const definition = parseSwitchbackDefinition(test);
    const { baseline, candidate, unitMinutes, units, seed, start } = definition;
    const { kind, carryOverUnits } = readSwitchbackDesign(definition);
    const end = computePlanEnd(definition);
    return {
      // A switchback test requests no runs of its own.
      number_of_requested_runs: number_of_runs,
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
      ...formatComparisonSettings(definition),
    };
  },
});

export const createSwitchbackTest: OperationHandler<'createSwitchbackTest'> = async (context, call) => {
  const { application, draft } = await prepareDraft(context, switchback.kind, call, (application) => {
    const seed = makeId<string>(context.random, 'seed');
    const definition = defineSwitchbackTest(
      call.body,
      readMeaning(application).objective,
      context.clock.now(),
      seed,
    );
    const instances = [
      ['comparison.baseline_instance_id', definition.baseline],
      ['comparison.candidate_instance_id', definition.candidate],
    ] as const;
    return { definition, instances };
  });
  return call.commit(async (tx) => {
    // The lock of the application comes first in every transaction that takes several.
    await lockLiveApplication(tx, application);
    const redraws = await countPlanDraw(tx, draft);
    const definition = JSON.stringify({ ...parseSwitchbackDefinition(draft), redraws });
    const test = { ...draft, definition };
    await insertOwnExperiment(tx, test);
    return { status: 201, body: handlers.formatNew(test, call.caller) };
  });
};

export const listSwitchbackTests: OperationHandler<'listSwitchbackTests'> = async (context, call) =>
  respondWithListObject(context, await handlers.createListSource(context, call));

export const getSwitchbackTest: OperationHandler<'getSwitchbackTest'> = async (context, call) => {
  const { experiment } = await handlers.find(context, call);
  const { warnings: _inResults, ...body } = await handlers.read(context, experiment, call.caller);
  const refusals = await listRunRefusals(context.database.read, experiment.uid, FAILURES_EMBEDDED_MAX);
  return respondWithResults(context, experiment, { ...body, refusals });
};

export const getSwitchbackTestMetadata: OperationHandler<'getSwitchbackTestMetadata'> = handlers.getMetadata;
export const listSwitchbackTestRuns: OperationHandler<'listSwitchbackTestRuns'> = handlers.listRuns;
export const updateSwitchbackTest: OperationHandler<'updateSwitchbackTest'> = handlers.update;
export const deleteSwitchbackTest: OperationHandler<'deleteSwitchbackTest'> = handlers.delete;
export const startSwitchbackTest: OperationHandler<'startSwitchbackTest'> = handlers.start;
export const stopSwitchbackTest: OperationHandler<'stopSwitchbackTest'> = handlers.stop;
