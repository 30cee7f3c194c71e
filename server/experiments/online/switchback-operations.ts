/** The operations on switchback tests. */
import { getApplication } from '../../applications/store.ts';
import { formatRfc3339 } from '../../clock.ts';
import type { HandlersFor } from '../../http/handlers/handler.ts';
import { respondWithListObject } from '../../http/lists/list-responses.ts';
import { makeId } from '../../random.ts';
import { parseSwitchbackDefinition } from '../store/online-test-definitions.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { defineSwitchbackTest } from './define-online-tests.ts';
import {
  formatOnlineTests,
  type OnlineTestContext,
  onlineTestOperations,
  respondWithResults,
} from './online-test-operations.ts';

type SwitchbackOperation =
  | 'createSwitchbackTest'
  | 'listSwitchbackTests'
  | 'getSwitchbackTest'
  | 'updateSwitchbackTest'
  | 'deleteSwitchbackTest'
  | 'startSwitchbackTest'
  | 'stopSwitchbackTest'
  | 'listSwitchbackTestRuns'
  | 'getSwitchbackTestMetadata';

export function switchbackTestHandlers(parts: OnlineTestContext): HandlersFor<SwitchbackOperation> {
  const { database, pageTokens, clock, random } = parts;
  const common = onlineTestOperations(parts, { kind: 'switchback', displayName: 'switchback test' });

  const bodies = async (tests: readonly ExperimentsTable[]) => {
    const shown = await formatOnlineTests(parts, tests);
    return tests.map((test) => bodyFrom(shown(test), test));
  };
  const bodyOf = async (test: ExperimentsTable) =>
    bodyFrom((await formatOnlineTests(parts, [test]))(test), test);

  return {
    async createSwitchbackTest({ caller, params, body, remember }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      const definition = defineSwitchbackTest(body, clock.now(), makeId<string>(random, 'seed'));
      const draft = await common.make(caller, application, body, definition, [
        ['comparison.baseline_instance_id', definition.baseline],
        ['comparison.candidate_instance_id', definition.candidate],
      ]);
      const answer = { status: 201 as const, body: await bodyOf(draft) };
      await common.keep(application, draft, (tx) => remember(tx, answer));
      return answer;
    },

    async listSwitchbackTests({ caller, params, query }) {
      const listed = await common.listed(caller, params.application_id, query, { bodies });
      return respondWithListObject(pageTokens, listed);
    },

    async getSwitchbackTest({ caller, params }) {
      const { experiment } = await common.find(caller, params.application_id, params.switchback_id);
      return respondWithResults(await bodyOf(experiment), await parts.results.read(experiment));
    },

    async updateSwitchbackTest({ caller, params, body }) {
      const found = await common.find(caller, params.application_id, params.switchback_id);
      return { status: 200, body: await bodyOf(await common.update(found, body)) };
    },

    async deleteSwitchbackTest({ caller, params }) {
      return common.removeTest(caller, params.application_id, params.switchback_id);
    },

    async startSwitchbackTest({ caller, params }) {
      return common.start(caller, params.application_id, params.switchback_id);
    },

    async stopSwitchbackTest({ caller, params, body }) {
      return common.stop(caller, params.application_id, params.switchback_id, body?.intent ?? 'complete');
    },

    async listSwitchbackTestRuns({ caller, params, query }) {
      const { experiment } = await common.find(caller, params.application_id, params.switchback_id);
      return common.runs(caller, experiment, query);
    },

    async getSwitchbackTestMetadata({ caller, params }) {
      const { experiment } = await common.find(caller, params.application_id, params.switchback_id);
      return { status: 200, body: await bodyOf(experiment) };
    },
  };
}

type Shown = ReturnType<Awaited<ReturnType<typeof formatOnlineTests>>>;

/** Nobody asks for the runs of a switchback test but those who make them: it wants what it has. */
function bodyFrom(shown: Shown, test: ExperimentsTable) {
  const { baseline, candidate, unitMinutes, units, seed, start, objectives } =
    parseSwitchbackDefinition(test);
  return {
    ...shown,
    number_of_requested_runs: shown.number_of_runs,
    comparison: { baseline_instance_id: baseline, candidate_instance_id: candidate },
    plan: {
      ...(start === null ? {} : { start: formatRfc3339(start) }),
      units: units.map((instance_id, index) => ({ index, duration_minutes: unitMinutes, instance_id })),
      seed,
    },
    objectives,
  };
}
