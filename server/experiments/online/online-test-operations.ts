/** Functions that the operations on shadow and switchback tests share: create, find, list, start, stop and delete. */

import { isLatest, RESERVED_INSTANCES } from '@switchyard/contract/applications/reserved-instances.ts';
import type { TypeWith } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { InstanceId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { getApplication, lockLiveApplication } from '../../apps/applications/store.ts';
import { findInstance } from '../../apps/instances/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type {
  Caller,
  HandlerResult,
  OperationCall,
  RawResponse,
} from '../../platform/http/handlers/handler.ts';
import { findStartingKey } from '../../platform/http/handlers/run-scope.ts';
import type { ListSource } from '../../platform/http/lists/list-responses.ts';
import { validateName } from '../../platform/http/requests/resource-names.ts';
import { makeId } from '../../platform/random.ts';
import {
  createExperimentListSource,
  type ExperimentAddress,
  type ExperimentKindSettings,
  type ExperimentListFormat,
  type ExperimentListRequest,
  type ExperimentWithApplication,
  experimentNotFound,
  getOwnExperiment,
  markExperimentDeleted,
} from '../operations/experiment-operations.ts';
import { countRunsByExperiment, formatExperiment, formatProgress } from '../operations/format-experiment.ts';
import { formatQuestion } from '../questions/describe-question.ts';
import { clearResultsPending } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { insertExperiment } from '../store/transitions.ts';
import {
  AlreadyStartedError,
  releaseBaseline,
  startInTransaction,
  stopInTransaction,
  type TestStopIntent,
} from './online-test-lifecycle.ts';

/** Shadow or switchback tests, and their name in error messages. */
export type OnlineTestKind = ExperimentKindSettings & { kind: TypeWith<'isLive'> };

/** Both kinds have the same responses, so a call of a shadow test stands for both. */
type StartCall = Pick<OperationCall<'startShadowTest'>, 'commit' | 'noEffect'>;
type StopCall = Pick<OperationCall<'stopShadowTest'>, 'commit'>;
type DeleteCall = Pick<OperationCall<'deleteShadowTest'>, 'commit'>;

interface DraftRequest {
  caller: Caller;
  application: ApplicationsTable;
  body: Pick<ExperimentsTable, 'id' | 'name'> & { description?: string | null | undefined };
  definition: object;
  /** The instances of the definition, each with the field that names it. */
  instances: readonly [field: string, id: string][];
}

/** Returns the requested test. Ends it first when its time has ended. */
export async function getOwnOnlineTest(
  context: Pick<Context, 'database' | 'onlineTests'>,
  kind: OnlineTestKind,
  address: ExperimentAddress,
): Promise<ExperimentWithApplication> {
  const found = await getOwnExperiment(context, kind, address);
  if (!context.onlineTests.isOverdue(found.experiment)) return found;
  await context.onlineTests.endOverdueTests(found.application.uid);
  return getOwnExperiment(context, kind, address);
}

/** Creates the source of the requested list. First ends the tests whose time has ended. */
export async function createOnlineTestListSource<Body>(
  context: Pick<Context, 'database' | 'clock' | 'onlineTests'>,
  kind: OnlineTestKind,
  request: ExperimentListRequest,
  format: ExperimentListFormat<Body>,
): Promise<ListSource<ExperimentsTable, Body>> {
  const { caller, applicationId } = request;
  const application = await getApplication(context.database.read, caller.account, applicationId);
  await context.onlineTests.endOverdueTests(application.uid);
  return createExperimentListSource(context, kind, request, format);
}

/** Builds the row of a draft. Throws a 400 for an invalid name, or for an instance that does not exist. */
export async function prepareDraft(
  { database, clock, random }: Pick<Context, 'database' | 'clock' | 'random'>,
  { kind }: OnlineTestKind,
  { caller, application, body, definition, instances }: DraftRequest,
): Promise<ExperimentsTable> {
  validateName(body.name, body.id);
  for (const [field, id] of instances)
    if (!isLatest(id) && !(await findInstance(database.read, application.uid, id as InstanceId)))
      throw badRequest(
        `${field} is ${quoteValue(id)}; it must be an instance of the application ${quoteValue(application.id)}, or ${RESERVED_INSTANCES[0]}.`,
      );
  const now = clock.now();
  return {
    uid: makeId<string>(random, 'exp'),
    application_uid: application.uid,
    application_id: application.id,
    account_id: application.account_id,
    kind,
    id: body.id,
    type: kind,
    name: body.name,
    description: body.description ?? '',
    status: 'draft',
    user_email: caller.email,
    created_by_key: findStartingKey(caller),
    definition: JSON.stringify(definition),
    requested: 0,
    created_at: now,
    updated_at: now,
    started_at: null,
    completed_at: null,
    deleted_at: null,
  };
}

/** Stores the draft. Throws a 400 when the application has a test of that id. */
export async function insertDraft(
  tx: Writer,
  { noun }: OnlineTestKind,
  application: ApplicationsTable,
  draft: ExperimentsTable,
): Promise<void> {
  await lockLiveApplication(tx, application);
  if (await insertExperiment(tx, draft)) return;
  throw badRequest(
    `id is ${quoteValue(draft.id)}, which another ${noun} of the application has; choose another.`,
  );
}

/** Starts the test. Responds with 204, or with 304 for a test that is started already. */
export async function startTest(
  context: Context,
  kind: OnlineTestKind,
  address: ExperimentAddress,
  { commit, noEffect }: StartCall,
): Promise<HandlerResult<'startShadowTest'>> {
  const { clock, onlineTests, onOnlineTestChanged } = context;
  const { application, experiment } = await getOwnOnlineTest(context, kind, address);
  // A test whose time has ended must not block its baseline for another test.
  await onlineTests.endOverdueTests(application.uid);
  const notFound = () => experimentNotFound(kind, application, address.id);
  const committed = await commit(async (tx) => {
    await startInTransaction(tx, { application, uid: experiment.uid, clock, notFound });
    return { status: 204 };
  }).catch((error: unknown) => {
    if (error instanceof AlreadyStartedError) return noEffect({ status: 304 });
    throw error;
  });
  onOnlineTestChanged();
  return committed;
}

/** Completes or cancels the test. */
export async function stopTest(
  context: Context,
  kind: OnlineTestKind,
  address: ExperimentAddress,
  { commit, intent }: StopCall & { intent: TestStopIntent },
): Promise<HandlerResult<'stopShadowTest'>> {
  const { database, clock, onOnlineTestChanged } = context;
  const { application, experiment } = await getOwnOnlineTest(context, kind, address);
  const notFound = () => experimentNotFound(kind, application, address.id);
  const committed = await commit(async (tx) => {
    await stopInTransaction(tx, { uid: experiment.uid, intent, clock, notFound });
    return { status: 204 };
  });
  database.notify('runs-planned');
  onOnlineTestChanged();
  return committed;
}

/** Deletes the test and its route. */
export async function deleteTest(
  context: Context,
  kind: OnlineTestKind,
  address: ExperimentAddress,
  { commit }: DeleteCall,
): Promise<HandlerResult<'deleteShadowTest'>> {
  const { clock, onExperimentDeleted, onlineTestResults } = context;
  const found = await getOwnExperiment(context, kind, address);
  // Stores the look at the question: somebody may have read the runs that ended.
  if (found.experiment.status === 'started') await onlineTestResults.read(found.experiment);
  const committed = await commit(async (tx) => {
    await markExperimentDeleted(tx, kind, found, clock.now());
    await releaseBaseline(tx, found.experiment);
    await clearResultsPending(tx, found.experiment.uid);
    return { status: 204 };
  });
  onExperimentDeleted();
  return committed;
}

/** The fields of a response body that both kinds have. */
export type OnlineTestBody = ReturnType<typeof formatOnlineTest>;

/** Counts the runs of the tests. Returns a function that formats the fields common to both kinds for one of the tests. */
export async function formatOnlineTests(
  db: Reader,
  tests: readonly ExperimentsTable[],
): Promise<(test: ExperimentsTable) => OnlineTestBody> {
  const counts = await countRunsByExperiment(db, tests);
  return (test) => formatOnlineTest(test, counts(test));
}

function formatOnlineTest(test: ExperimentsTable, counts: Parameters<typeof formatProgress>[1]) {
  const { started_at, completed_at } = test;
  return {
    ...formatExperiment(test),
    ...(started_at === null ? {} : { started_at: formatRfc3339(started_at) }),
    ...(completed_at === null ? {} : { completed_at: formatRfc3339(completed_at) }),
    ...formatProgress(test, counts),
  };
}

/** Responds with the fields of the body and those of `results`, a JSON object that is not parsed because it can be large. */
export async function respondWithResults(
  { questionMemory, onlineTestResults }: Pick<Context, 'questionMemory' | 'onlineTestResults'>,
  test: ExperimentsTable,
  body: object,
): Promise<RawResponse> {
  const results = await onlineTestResults.read(test);
  const head = { ...body, ...formatQuestion(await questionMemory.read(test.uid)) };
  const raw = `${JSON.stringify(head).slice(0, -1)},${results.slice(1)}\n`;
  return { status: 200, raw, contentType: 'application/json; charset=utf-8' };
}
