/** Handlers of the operations on acceptance tests. */
import { acceptance } from '@switchyard/contract/experiment-types/acceptance.ts';
import type { ApplicationId, ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { getApplication } from '../../apps/applications/store.ts';
import { badRequest, orThrow } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Caller, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { BatchChangedError } from '../batch/batch-control.ts';
import { rememberBatch } from '../batch/batch-results.ts';
import { createBatch } from '../batch/create-batch.ts';
import { experimentNotFound, idInUse, parseNameChanges } from '../operations/experiment-operations.ts';
import { parseAcceptanceDefinition } from '../store/acceptance-definition.ts';
import type { AcceptanceTestsTable } from '../store/acceptance-schema.ts';
import * as store from '../store/acceptance-tests.ts';
import { deleteExperiment, findExperiment, lockExperiment } from '../store/experiments.ts';
import {
  buildBatchRequest,
  checkAcceptanceBatch,
  checkAcceptanceSides,
  findUnusedBatchFieldError,
} from './acceptance-batch.ts';
import { insertTest, insertTestOnBatch, prepareTest, prepareTestOnBatch } from './create-acceptance-test.ts';
import { formatAcceptanceSummary, formatAcceptanceTest } from './format-acceptance-test.ts';
import { checkInputCount } from './parse-acceptance-request.ts';

export const createAcceptanceTest: OperationHandler<'createAcceptanceTest'> = async (context, call) => {
  const { database } = context;
  const { caller, params, body, commit } = call;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const test = prepareTest(context, application, body);
  if (await store.findAcceptanceTest(database.read, application.uid, test.id))
    throw idInUse(acceptance, test.id);
  const findBatch = () => findExperiment(database.read, application.uid, 'batch', test.experimentId);
  const batch = await findBatch();
  if (!batch) {
    const batchBody = buildBatchRequest(test.experimentId, test.definition, body);
    await context.coreHourLimiter.requireHours(caller.account, params.application_id);
    await checkAcceptanceSides(database.read, application, test.definition);
    return createBatch(context, { caller, params, body: batchBody }, (experiment, insert) => {
      checkInputCount(test.definition, experiment.requested / (2 * (body.repetitions ?? 1)));
      return commit(async (tx) => {
        await insertTest(tx, test, experiment);
        await insert(tx);
        return { status: 201, body: formatAcceptanceSummary(test.row) };
      });
    });
  }
  const unused = findUnusedBatchFieldError(batch, body);
  if (unused) throw badRequest(unused);
  await checkAcceptanceBatch(database.read, application, batch, test.definition);
  for (let known = batch; ; known = (await findBatch()) ?? batch) {
    try {
      const prepared = await prepareTestOnBatch(context, test, known);
      const committed = await commit(async (tx) => {
        const row = await insertTestOnBatch(tx, prepared);
        return { status: 201 as const, body: formatAcceptanceSummary(row) };
      });
      // The batch may have ended: the notification wakes the job that decides the test.
      database.notify('experiments-ended');
      return committed;
    } catch (error) {
      if (!(error instanceof BatchChangedError)) throw error;
    }
  }
};

export const listAcceptanceTests: OperationHandler<'listAcceptanceTests'> = async (
  { database, pageTokens, log },
  { caller, params, query },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  return respondWithList(
    { pageTokens, log },
    {
      tokenScope: `acceptance-tests ${application.uid}`,
      query,
      queryRows: (page) => store.listAcceptanceTests(database.read, application.uid, page),
      formatBodies: (rows) => rows.map(formatAcceptanceSummary),
    },
  );
};

export const getAcceptanceTest: OperationHandler<'getAcceptanceTest'> = async (
  context,
  { caller, params },
) => {
  const { test } = await getOwnTest(context, caller, params);
  const question = await context.questionMemory.read(test.uid);
  return { status: 200, body: formatAcceptanceTest(test, question) };
};

export const updateAcceptanceTest: OperationHandler<'updateAcceptanceTest'> = async (
  context,
  { caller, params, body, commit },
) => {
  const { application, test } = await getOwnTest(context, caller, params);
  const changes = parseNameChanges(context, test.id, body);
  return commit(async (tx) => {
    const changed = await store.updateAcceptanceTest(tx, test.uid, changes);
    const found = orThrow(changed, () => experimentNotFound(acceptance, application, params.acceptance_id));
    return {
      status: 200,
      body: formatAcceptanceTest(found, await context.questionMemory.read(test.uid, tx)),
    };
  });
};

export const deleteAcceptanceTest: OperationHandler<'deleteAcceptanceTest'> = async (
  context,
  { caller, params, commit },
) => {
  const { clock, onExperimentDeleted } = context;
  const { application, test } = await getOwnTest(context, caller, params);
  const batch = await findExperiment(context.database.read, application.uid, 'batch', test.experiment_id);
  if (batch) await rememberBatch(context, batch);
  const committed = await commit(async (tx) => {
    // Requests that add a test on the batch wait for this lock, so that a deleted batch has no test.
    await lockExperiment(tx, test.experiment_uid);
    if (!(await store.deleteAcceptanceTest(tx, test.uid)))
      throw experimentNotFound(acceptance, application, params.acceptance_id);
    // Another batch was created by itself, and its runs may be needed.
    const { created_batch } = parseAcceptanceDefinition(test);
    if (created_batch && !(await store.hasAcceptanceTests(tx, test.experiment_uid)))
      await deleteExperiment(tx, test.experiment_uid, clock.now());
    return { status: 204 };
  });
  onExperimentDeleted();
  return committed;
};

/** Returns the test of the caller's application. Throws a 404 that names the missing one of the two. */
async function getOwnTest(
  { database }: Pick<Context, 'database'>,
  caller: Caller,
  params: { application_id: ApplicationId; acceptance_id: ExperimentId },
): Promise<{ application: ApplicationsTable; test: AcceptanceTestsTable }> {
  const application = await getApplication(database.read, caller.account, params.application_id);
  const test = await store.findAcceptanceTest(database.read, application.uid, params.acceptance_id);
  if (!test) throw experimentNotFound(acceptance, application, params.acceptance_id);
  return { application, test };
}
