/** What the operations on shadow and switchback tests share: making, finding, starting, stopping, deleting them. */

import { isLatest, RESERVED_INSTANCES } from '@switchyard/contract/applications/reserved-instances.ts';
import type { ApplicationId, ExperimentId, InstanceId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../applications/schema.ts';
import { getApplication, lockLiveApplication } from '../../applications/store.ts';
import { formatRfc3339 } from '../../clock.ts';
import type { Writer } from '../../database/database.ts';
import { badRequest, quoteValue } from '../../http/errors/problem.ts';
import type { Caller, RawResponse } from '../../http/handlers/handler.ts';
import type { ListSource } from '../../http/lists/list-responses.ts';
import { validateName } from '../../http/requests/resource-names.ts';
import { findInstance } from '../../instances/store.ts';
import { makeId, type Random } from '../../random.ts';
import {
  type ExperimentContext,
  type ExperimentKindSettings,
  type ExperimentWithApplication,
  experimentOperations,
} from '../operations/experiment-operations.ts';
import { countRunsByExperiment, formatExperiment, formatProgress } from '../operations/format-experiment.ts';
import { clearResultsPending } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { insertExperiment } from '../store/transitions.ts';
import {
  releaseBaseline,
  startOnlineTest,
  stopOnlineTest,
  type TestStopIntent,
} from './online-test-lifecycle.ts';
import type { OnlineTestResults } from './online-test-results.ts';
import type { OnlineTests } from './online-tests.ts';

export interface OnlineTestContext extends ExperimentContext {
  random: Random;
  onlineTests: OnlineTests;
  results: OnlineTestResults;
  /** Told when a test was started or stopped: there is something to do. */
  onStatusChanged(): void;
}

type LiveKind = ExperimentKindSettings & { kind: 'shadow' | 'switchback' };

interface NewTest {
  id: ExperimentId;
  name: string;
  description?: string | null | undefined;
}

export function onlineTestOperations(parts: OnlineTestContext, kind: LiveKind) {
  const { database, clock, random, onlineTests: live } = parts;
  const common = experimentOperations(parts, kind);

  const find = async (
    caller: Caller,
    applicationId: ApplicationId,
    id: ExperimentId,
  ): Promise<ExperimentWithApplication> => {
    const found = await common.find(caller, applicationId, id);
    if (!live.isOverdue(found.experiment)) return found;
    await live.endOverdueTests(found.application.uid);
    return common.find(caller, applicationId, id);
  };

  return {
    ...common,
    find,

    async listed<Body>(
      ...asked: Parameters<typeof common.listed<Body>>
    ): Promise<ListSource<ExperimentsTable, Body>> {
      const [caller, applicationId] = asked;
      const application = await getApplication(database.read, caller.account, applicationId);
      await live.endOverdueTests(application.uid);
      return common.listed(...asked);
    },

    /** A draft of the definition; `instances` are those it names, by the field that names them. */
    async make(
      caller: Caller,
      application: ApplicationsTable,
      body: NewTest,
      definition: object,
      instances: readonly [field: string, id: string][],
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
        kind: kind.kind,
        id: body.id,
        type: kind.kind,
        name: body.name,
        description: body.description ?? '',
        status: 'draft',
        user_email: caller.email,
        definition: JSON.stringify(definition),
        requested: 0,
        created_at: now,
        updated_at: now,
        started_at: null,
        completed_at: null,
        deleted_at: null,
      };
    },

    /** Keeps the draft; `remember` keeps the answer. */
    async keep(
      application: ApplicationsTable,
      draft: ExperimentsTable,
      remember: (tx: Writer) => Promise<void>,
    ): Promise<void> {
      await database.transact(async (tx) => {
        await remember(tx);
        await lockLiveApplication(tx, application);
        if (await insertExperiment(tx, draft)) return;
        throw badRequest(
          `id is ${quoteValue(draft.id)}, which another ${kind.displayName} of the application has; choose another.`,
        );
      });
    },

    async start(caller: Caller, applicationId: ApplicationId, id: ExperimentId) {
      const { application, experiment } = await find(caller, applicationId, id);
      // A test whose time is over keeps no other from its baseline.
      await live.endOverdueTests(application.uid);
      const status = await startOnlineTest(parts, application, experiment.uid, () =>
        common.missing(application, id),
      );
      parts.onStatusChanged();
      return { status };
    },

    async stop(caller: Caller, applicationId: ApplicationId, id: ExperimentId, intent: TestStopIntent) {
      const { application, experiment } = await find(caller, applicationId, id);
      await stopOnlineTest(parts, experiment.uid, intent, () => common.missing(application, id));
      parts.onStatusChanged();
      return { status: 204 as const };
    },

    async removeTest(caller: Caller, applicationId: ApplicationId, id: ExperimentId) {
      const found = await common.find(caller, applicationId, id);
      await common.remove(found, async (tx) => {
        await releaseBaseline(tx, found.experiment);
        await clearResultsPending(tx, found.experiment.uid);
      });
      return { status: 204 as const };
    },
  };
}

/** What both kinds show of a test beside what is theirs. */
export async function formatOnlineTests(
  { database }: OnlineTestContext,
  tests: readonly ExperimentsTable[],
): Promise<(test: ExperimentsTable) => ReturnType<typeof liveBody>> {
  const counts = await countRunsByExperiment(database.read, tests);
  return (test) => liveBody(test, counts(test));
}

function liveBody(test: ExperimentsTable, counts: Parameters<typeof formatProgress>[1]) {
  const { started_at, completed_at } = test;
  return {
    ...formatExperiment(test),
    ...(started_at === null ? {} : { started_at: formatRfc3339(started_at) }),
    ...(completed_at === null ? {} : { completed_at: formatRfc3339(completed_at) }),
    ...formatProgress(test, counts),
  };
}

/** The fields of an object with those that are JSON already. */
export function respondWithResults(body: object, findings: string): RawResponse {
  const raw = `${JSON.stringify(body).slice(0, -1)},${findings.slice(1)}\n`;
  return { status: 200, raw, contentType: 'application/json; charset=utf-8' };
}
