/** Functions that the operations on shadow and switchback tests share: create, start and stop. */
import { isLatest, RESERVED_INSTANCES } from '@switchyard/contract/applications/reserved-instances.ts';
import type { TypeWith } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { ApplicationId, ExperimentId, InstanceId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { getApplication } from '../../apps/applications/store.ts';
import { findInstance } from '../../apps/instances/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type {
  Caller,
  HandlerResult,
  OperationCall,
  RawResponse,
} from '../../platform/http/handlers/handler.ts';
import { validateName } from '../../platform/http/requests/resource-names.ts';
import { makeId } from '../../platform/random.ts';
import type { listExperimentRuns } from '../../runs/store/experiment-runs.ts';
import { defineExperimentHandlers, type ExperimentCall } from '../operations/experiment-handlers.ts';
import {
  buildExperiment,
  type ExperimentKindSettings,
  experimentNotFound,
} from '../operations/experiment-operations.ts';
import { formatExperiment, formatProgress } from '../operations/format-experiment.ts';
import { formatQuestion } from '../questions/describe-question.ts';
import type { ComparisonSettings } from '../store/comparison-settings.ts';
import { clearResultsPending } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import {
  AlreadyStartedError,
  releaseBaseline,
  startInTransaction,
  stopInTransaction,
} from './online-test-lifecycle.ts';

type OnlineTestKind = TypeWith<'isLive'>;

/** Both kinds have the same responses, so the effect of a shadow test stands for both. */
type StartEffect = Pick<OperationCall<'startShadowTest'>, 'commit' | 'noEffect'>;
type StopEffect = Pick<OperationCall<'stopShadowTest'>, 'commit' | 'body'>;

/** The part of one kind. */
interface OnlineTestPart<Kind extends OnlineTestKind, Own> {
  settings: ExperimentKindSettings & { kind: Kind };
  /** Formats the fields of the kind. They replace those of `shared`, which both kinds have. */
  formatOwn(test: ExperimentsTable, shared: ReturnType<typeof formatOnlineTest>): Own;
  listRuns?: typeof listExperimentRuns;
}

/** Returns the handlers that both kinds have. */
export function defineOnlineTestHandlers<Kind extends OnlineTestKind, Own extends object>({
  formatOwn,
  ...part
}: OnlineTestPart<Kind, Own>) {
  const { settings } = part;
  const handlers = defineExperimentHandlers({
    ...part,
    format(test, counts) {
      const shared = formatOnlineTest(test, counts);
      return { ...shared, ...formatOwn(test, shared) };
    },
    remember: async (context, test) => {
      if (test.status === 'started') await context.onlineTestResults.read(test);
    },
    async deleteParts(tx, test) {
      await releaseBaseline(tx, test);
      await clearResultsPending(tx, test.uid);
    },
  });
  return {
    ...handlers,
    /** Responds with 204, or with 304 for a test that is started already. */
    async start(
      context: Context,
      call: ExperimentCall<Kind> & StartEffect,
    ): Promise<HandlerResult<'startShadowTest'>> {
      const { clock, onlineTests, onOnlineTestChanged } = context;
      const { application, experiment } = await handlers.find(context, call);
      // A test whose time has ended must not block its baseline for another test.
      await onlineTests.endOverdueTests(application.uid);
      const { uid, id } = experiment;
      const notFound = () => experimentNotFound(settings, application, id);
      const committed = await call
        .commit(async (tx) => {
          await startInTransaction(tx, { application, uid, clock, notFound });
          return { status: 204 };
        })
        .catch((error: unknown) => {
          if (error instanceof AlreadyStartedError) return call.noEffect({ status: 304 });
          throw error;
        });
      onOnlineTestChanged();
      return committed;
    },
    /** Completes or cancels the test. */
    async stop(
      context: Context,
      call: ExperimentCall<Kind> & StopEffect,
    ): Promise<HandlerResult<'stopShadowTest'>> {
      const { database, clock, onOnlineTestChanged } = context;
      const { application, experiment } = await handlers.find(context, call);
      const { uid, id } = experiment;
      const intent = call.body?.intent ?? 'complete';
      const notFound = () => experimentNotFound(settings, application, id);
      const committed = await call.commit(async (tx) => {
        await stopInTransaction(tx, { uid, intent, clock, notFound });
        return { status: 204 };
      });
      database.notify('runs-planned');
      onOnlineTestChanged();
      return committed;
    },
  };
}

interface DraftRequest {
  caller: Caller;
  params: { application_id: ApplicationId };
  body: { id: ExperimentId; name: string; description?: string | null | undefined };
}

interface DraftDefinition {
  definition: object;
  /** The instances of the definition, each with the field that names it. */
  instances: readonly (readonly [field: string, id: string])[];
}

/** Builds the row of a draft. Throws a 400 for an invalid name, or for an instance that does not exist. */
export async function prepareDraft(
  { database, clock, random }: Pick<Context, 'database' | 'clock' | 'random'>,
  type: OnlineTestKind,
  { caller, params, body: { id, name, description } }: DraftRequest,
  define: (application: ApplicationsTable) => DraftDefinition,
): Promise<{ application: ApplicationsTable; draft: ExperimentsTable }> {
  const application = await getApplication(database.read, caller.account, params.application_id);
  const { definition, instances } = define(application);
  validateName(name, id);
  for (const [field, instance] of instances)
    if (!isLatest(instance) && !(await findInstance(database.read, application.uid, instance as InstanceId)))
      throw badRequest(
        `${field} is ${quoteValue(instance)}; it must be an instance of the application ${quoteValue(application.id)}, or ${RESERVED_INSTANCES[0]}.`,
      );
  const draft = buildExperiment({
    ...{ application, caller, type, id, name, description, definition },
    uid: makeId<string>(random, 'exp'),
    requested: 0,
    created_at: clock.now(),
  });
  return { application, draft };
}

/** Formats the fields of a response body that both kinds have. */
function formatOnlineTest(test: ExperimentsTable, counts: Parameters<typeof formatProgress>[1]) {
  const { started_at, completed_at } = test;
  return {
    ...formatExperiment(test),
    ...(started_at === null ? {} : { started_at: formatRfc3339(started_at) }),
    ...(completed_at === null ? {} : { completed_at: formatRfc3339(completed_at) }),
    ...formatProgress(test, counts),
  };
}

/** Formats the settings of the comparison. */
export function formatComparisonSettings({ objectives, primary, guardrails }: ComparisonSettings) {
  return {
    objectives: objectives ?? {},
    ...(primary === undefined ? {} : { primary }),
    ...(guardrails === undefined ? {} : { guardrails }),
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
