/** The operations on shadow tests. */
import { getApplication } from '../../applications/store.ts';
import { formatRfc3339 } from '../../clock.ts';
import type { HandlersFor } from '../../http/handlers/handler.ts';
import { respondWithList } from '../../http/lists/list-responses.ts';
import { listShadowRuns } from '../../runs/store/experiment-runs.ts';
import { listRefusedRuns } from '../operations/format-experiment.ts';
import { parseShadowDefinition } from '../store/online-test-definitions.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { defineShadowTest } from './define-online-tests.ts';
import {
  formatOnlineTests,
  type OnlineTestContext,
  onlineTestOperations,
  respondWithResults,
} from './online-test-operations.ts';

type ShadowOperation =
  | 'createShadowTest'
  | 'listShadowTests'
  | 'getShadowTest'
  | 'updateShadowTest'
  | 'deleteShadowTest'
  | 'startShadowTest'
  | 'stopShadowTest'
  | 'listShadowTestRuns'
  | 'getShadowTestMetadata';

export function shadowTestHandlers(parts: OnlineTestContext): HandlersFor<ShadowOperation> {
  const { database, pageTokens, clock } = parts;
  const common = onlineTestOperations(parts, {
    kind: 'shadow',
    displayName: 'shadow test',
    listRuns: listShadowRuns,
  });

  const bodies = async (tests: readonly ExperimentsTable[]) => {
    const shown = await formatOnlineTests(parts, tests);
    return tests.map((test) => ({ ...shown(test), ...definitionBody(test) }));
  };
  const bodyOf = async (test: ExperimentsTable) => {
    const shown = await formatOnlineTests(parts, [test]);
    return { ...shown(test), ...definitionBody(test) };
  };

  return {
    async createShadowTest({ caller, params, body, remember }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      const definition = defineShadowTest(body, clock.now());
      const by = body.comparison ? 'comparison' : 'comparisons';
      const draft = await common.make(caller, application, body, definition, [
        [`${by}${body.comparison ? '.baseline_instance_id' : ''}`, definition.baseline],
        ...definition.candidates.map((id): [string, string] => [
          body.comparison ? 'comparison.candidate_instance_id' : `comparisons.${definition.baseline}`,
          id,
        ]),
      ]);
      const answer = { status: 201 as const, body: await bodyOf(draft) };
      await common.keep(application, draft, (tx) => remember(tx, answer));
      return answer;
    },

    async listShadowTests({ caller, params, query }) {
      return respondWithList(
        pageTokens,
        await common.listed(caller, params.application_id, query, { bodies }),
      );
    },

    async getShadowTest({ caller, params }) {
      const { experiment } = await common.find(caller, params.application_id, params.shadow_id);
      const refused_runs = await listRefusedRuns(database.read, experiment);
      const body = { ...(await bodyOf(experiment)), refused_runs };
      return respondWithResults(body, await parts.results.read(experiment));
    },

    async updateShadowTest({ caller, params, body }) {
      const found = await common.find(caller, params.application_id, params.shadow_id);
      return { status: 200, body: await bodyOf(await common.update(found, body)) };
    },

    async deleteShadowTest({ caller, params }) {
      return common.removeTest(caller, params.application_id, params.shadow_id);
    },

    async startShadowTest({ caller, params }) {
      return common.start(caller, params.application_id, params.shadow_id);
    },

    async stopShadowTest({ caller, params, body }) {
      return common.stop(caller, params.application_id, params.shadow_id, body?.intent ?? 'complete');
    },

    async listShadowTestRuns({ caller, params, query }) {
      const { experiment } = await common.find(caller, params.application_id, params.shadow_id);
      return common.runs(caller, experiment, query);
    },

    async getShadowTestMetadata({ caller, params }) {
      const { experiment } = await common.find(caller, params.application_id, params.shadow_id);
      return { status: 200, body: await bodyOf(experiment) };
    },
  };
}

function definitionBody(test: ExperimentsTable) {
  const { baseline, candidates, from, until, maximumRuns, objectives } = parseShadowDefinition(test);
  return {
    comparison: { baseline_instance_id: baseline, candidate_instance_id: candidates[0] ?? '' },
    comparisons: [{ baseline_instance_id: baseline, candidate_instance_ids: candidates }],
    start_events: from === null ? {} : { time: formatRfc3339(from) },
    termination_events: {
      maximum_runs: maximumRuns,
      ...(until === null ? {} : { time: formatRfc3339(until) }),
    },
    objectives,
  };
}
