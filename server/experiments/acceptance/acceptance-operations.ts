/** The operations on acceptance tests. */
import type { ApplicationId, ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../applications/schema.ts';
import { getApplication, lockLiveApplication } from '../../applications/store.ts';
import type { Contents } from '../../blobs/contents.ts';
import type { Clock } from '../../clock.ts';
import type { Database, Writer } from '../../database/database.ts';
import { badRequest, notFound, orThrow, type Problem, quoteValue } from '../../http/errors/problem.ts';
import type { Caller, HandlersFor } from '../../http/handlers/handler.ts';
import { respondWithList } from '../../http/lists/list-responses.ts';
import type { PageTokens } from '../../http/lists/pagination.ts';
import { validateName } from '../../http/requests/resource-names.ts';
import { makeId, type Random } from '../../random.ts';
import { applyControlChange, BatchChangedError, computeControlChange } from '../batch/batch-control.ts';
import { createBatch } from '../batch/create-batch.ts';
import type { AcceptanceTestsTable } from '../store/acceptance-schema.ts';
import {
  deleteAcceptanceTest,
  findAcceptanceTest,
  hasAcceptanceTests,
  listAcceptanceTests,
  updateAcceptanceTest,
} from '../store/acceptance-tests.ts';
import { deleteExperiment, findExperiment, lockExperiment } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { insertAcceptanceTest } from '../store/transitions.ts';
import {
  buildBatchRequest,
  checkAcceptanceBatch,
  checkAcceptanceSides,
  findUnusedBatchFieldError,
} from './acceptance-batch.ts';
import { formatAcceptanceSummary, formatAcceptanceTest } from './format-acceptance-test.ts';
import { parseAcceptanceRequest } from './parse-acceptance-request.ts';

interface Parts {
  database: Database;
  contents: Contents;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
  /** Told when a batch was deleted: there is something to remove. */
  onDeleted(): void;
}

type AcceptanceOperation =
  | 'createAcceptanceTest'
  | 'listAcceptanceTests'
  | 'getAcceptanceTest'
  | 'updateAcceptanceTest'
  | 'deleteAcceptanceTest';

export function acceptanceHandlers(parts: Parts): HandlersFor<AcceptanceOperation> {
  const { database, pageTokens, clock, random, onDeleted } = parts;

  const missing = (application: Pick<ApplicationsTable, 'id'>, id: ExperimentId) =>
    notFound(`There is no acceptance test ${quoteValue(id)} of application ${quoteValue(application.id)}.`);
  const taken = (id: ExperimentId) =>
    badRequest(
      `id is ${quoteValue(id)}, which another acceptance test of the application has; choose another.`,
    );
  const find = async (caller: Caller, applicationId: ApplicationId, id: ExperimentId) => {
    const application = await getApplication(database.read, caller.account, applicationId);
    const test = await findAcceptanceTest(database.read, application.uid, id);
    if (!test) throw missing(application, id);
    return { application, test };
  };

  return {
    async createAcceptanceTest({ caller, params, body, remember }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      const definition = parseAcceptanceRequest(application, body);
      const id = body.id || makeId<ExperimentId>(random, 'acceptance');
      const experimentId = body.experiment_id || id;
      validateName(body.name, id);
      const uid = makeId<string>(random, 'acceptance');
      const now = clock.now();
      const row = (experimentUid: string): AcceptanceTestsTable => ({
        uid,
        application_uid: application.uid,
        application_id: application.id,
        id,
        name: body.name,
        description: body.description ?? '',
        experiment_uid: experimentUid,
        experiment_id: experimentId,
        definition: JSON.stringify(definition),
        status: 'started',
        passed: null,
        error: '',
        metric_results: null,
        created_at: now,
        updated_at: now,
      });
      const answer = { status: 201 as const, body: formatAcceptanceSummary(row('')) };
      const make = async (tx: Writer, experimentUid: string): Promise<void> => {
        await remember(tx, answer);
        await lockLiveApplication(tx, application);
        if (!(await insertAcceptanceTest(tx, row(experimentUid)))) throw taken(id);
      };
      // What is there may come of the same request, sent twice at once: then that has its answer.
      const refuse = (problem: Problem): Promise<never> =>
        database.transact(async (tx) => {
          await remember(tx, answer);
          throw problem;
        });
      if (await findAcceptanceTest(database.read, application.uid, id)) return refuse(taken(id));
      const findOwnBatch = () => findExperiment(database.read, application.uid, 'batch', experimentId);
      const batch = await findOwnBatch();
      if (!batch) {
        const wanted = buildBatchRequest(experimentId, definition, body);
        await checkAcceptanceSides(database.read, application, definition);
        await createBatch(parts, {
          caller,
          params,
          body: wanted,
          remember: (tx, _, experimentUid) => make(tx, experimentUid),
        });
        return answer;
      }
      const needless = findUnusedBatchFieldError(batch, body);
      if (needless) return refuse(badRequest(needless));
      await checkAcceptanceBatch(database.read, application, batch, definition);
      const makeOn = async (known: ExperimentsTable): Promise<void> => {
        const change = await computeControlChange(database.read, known, definition.control);
        await database.transact(async (tx) => {
          await make(tx, known.uid);
          const held = await lockExperiment(tx, known.uid);
          if (!held)
            throw badRequest(`experiment_id is ${quoteValue(experimentId)}, which was deleted meanwhile.`);
          if (change) await applyControlChange(tx, known, held, change);
        });
      };
      for (let known = batch; ; known = (await findOwnBatch()) ?? batch) {
        try {
          await makeOn(known);
          break;
        } catch (error) {
          if (!(error instanceof BatchChangedError)) throw error;
        }
      }
      // It may be over already.
      database.notify('experiments-ended');
      return answer;
    },

    async listAcceptanceTests({ caller, params, query }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      return respondWithList(pageTokens, {
        tokenScope: `acceptance-tests ${application.uid}`,
        query,
        queryRows: (page) => listAcceptanceTests(database.read, application.uid, page),
        formatBodies: (rows) => rows.map(formatAcceptanceSummary),
      });
    },

    async getAcceptanceTest({ caller, params }) {
      const { test } = await find(caller, params.application_id, params.acceptance_id);
      return { status: 200, body: formatAcceptanceTest(test) };
    },

    async updateAcceptanceTest({ caller, params, body: { name, description } }) {
      const { application, test } = await find(caller, params.application_id, params.acceptance_id);
      validateName(name, test.id);
      const changes = {
        ...(typeof name === 'string' ? { name } : {}),
        ...(typeof description === 'string' ? { description } : {}),
        updated_at: clock.now(),
      };
      const changed = await database.transact(async (tx) =>
        orThrow(await updateAcceptanceTest(tx, test.uid, changes), () =>
          missing(application, params.acceptance_id),
        ),
      );
      return { status: 200, body: formatAcceptanceTest(changed) };
    },

    async deleteAcceptanceTest({ caller, params }) {
      const { application, test } = await find(caller, params.application_id, params.acceptance_id);
      await database.transact(async (tx) => {
        // Whoever adds or deletes a test of the batch waits here, so that the last one takes the batch with it.
        await lockExperiment(tx, test.experiment_uid);
        if (!(await deleteAcceptanceTest(tx, test.uid))) throw missing(application, params.acceptance_id);
        if (!(await hasAcceptanceTests(tx, test.experiment_uid)))
          await deleteExperiment(tx, test.experiment_uid, clock.now());
      });
      onDeleted();
      return { status: 204 };
    },
  };
}
