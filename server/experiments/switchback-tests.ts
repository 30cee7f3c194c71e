/** The operations on switchback tests. */
import { getApplication } from '../applications/store.ts';
import { rfc3339 } from '../clock.ts';
import type { HandlersOf } from '../http/handler.ts';
import { answerListObject } from '../http/lists.ts';
import { makeId } from '../random.ts';
import { type LiveParts, liveBodies, liveCommonOf, withFindings } from './live-common.ts';
import { defineSwitchback, switchbackOf } from './live-definitions.ts';
import type { ExperimentsTable } from './schema.ts';

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

export function switchbackTestHandlers(parts: LiveParts): HandlersOf<SwitchbackOperation> {
  const { database, pageTokens, clock, random } = parts;
  const common = liveCommonOf(parts, { kind: 'switchback', noun: 'switchback test' });

  const bodies = async (tests: readonly ExperimentsTable[]) => {
    const shown = await liveBodies(parts, tests);
    return tests.map((test) => bodyFrom(shown(test), test));
  };
  const bodyOf = async (test: ExperimentsTable) => bodyFrom((await liveBodies(parts, [test]))(test), test);

  return {
    async createSwitchbackTest({ caller, params, body, remember }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      const definition = defineSwitchback(body, clock.now(), makeId<string>(random, 'seed'));
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
      return answerListObject(pageTokens, listed);
    },

    async getSwitchbackTest({ caller, params }) {
      const { experiment } = await common.find(caller, params.application_id, params.switchback_id);
      return withFindings(await bodyOf(experiment), await parts.findings.of(experiment));
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

type Shown = ReturnType<Awaited<ReturnType<typeof liveBodies>>>;

/** Nobody asks for the runs of a switchback test but those who make them: it wants what it has. */
function bodyFrom(shown: Shown, test: ExperimentsTable) {
  const { baseline, candidate, unitMinutes, units, seed, start, objectives } = switchbackOf(test);
  return {
    ...shown,
    number_of_requested_runs: shown.number_of_runs,
    comparison: { baseline_instance_id: baseline, candidate_instance_id: candidate },
    plan: {
      ...(start === null ? {} : { start: rfc3339(start) }),
      units: units.map((instance_id, index) => ({ index, duration_minutes: unitMinutes, instance_id })),
      seed,
    },
    objectives,
  };
}
