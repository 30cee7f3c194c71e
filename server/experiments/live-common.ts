/** What the operations on shadow and switchback tests share: making, finding, starting, stopping, deleting them. */

import type { ApplicationId, ExperimentId, InstanceId } from '@switchyard/contract/ids.ts';
import { isLatest, RESERVED_INSTANCES } from '@switchyard/contract/reserved-instances.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { checkApplication, getApplication } from '../applications/store.ts';
import { rfc3339 } from '../clock.ts';
import type { Writer } from '../database/database.ts';
import type { Caller, RawReply } from '../http/handler.ts';
import type { Listed } from '../http/lists.ts';
import { checkName } from '../http/names.ts';
import { badRequest, shown } from '../http/problem.ts';
import { findInstance } from '../instances/store.ts';
import { makeId, type Random } from '../random.ts';
import { countsOf, progressBody, shownBody } from './bodies.ts';
import { type CommonParts, commonOf, type Found, type Kind } from './common.ts';
import type { LiveTests } from './live.ts';
import type { LiveFindings } from './live-findings.ts';
import { type Intent, release, startLive, stopLive } from './live-start.ts';
import type { ExperimentsTable } from './schema.ts';
import { insertExperiment, removeUnsettled } from './store.ts';

export interface LiveParts extends CommonParts {
  random: Random;
  live: LiveTests;
  findings: LiveFindings;
  /** Told when a test was started or stopped: there is something to do. */
  onMoved(): void;
}

type LiveKind = Kind & { kind: 'shadow' | 'switchback' };

interface NewTest {
  id: ExperimentId;
  name: string;
  description?: string | null | undefined;
}

export function liveCommonOf(parts: LiveParts, kind: LiveKind) {
  const { database, clock, random, live } = parts;
  const common = commonOf(parts, kind);

  const find = async (caller: Caller, applicationId: ApplicationId, id: ExperimentId): Promise<Found> => {
    const found = await common.find(caller, applicationId, id);
    if (!live.isOverdue(found.experiment)) return found;
    await live.endOverdue(found.application.uid);
    return common.find(caller, applicationId, id);
  };

  return {
    ...common,
    find,

    async listed<Body>(
      ...asked: Parameters<typeof common.listed<Body>>
    ): Promise<Listed<ExperimentsTable, Body>> {
      const [caller, applicationId] = asked;
      const application = await getApplication(database.read, caller.account, applicationId);
      await live.endOverdue(application.uid);
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
      checkName(body.name, body.id);
      for (const [field, id] of instances)
        if (!isLatest(id) && !(await findInstance(database.read, application.uid, id as InstanceId)))
          throw badRequest(
            `${field} is ${shown(id)}; it must be an instance of the application ${shown(application.id)}, or ${RESERVED_INSTANCES[0]}.`,
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
        await checkApplication(tx, application);
        if (await insertExperiment(tx, draft)) return;
        throw badRequest(
          `id is ${shown(draft.id)}, which another ${kind.noun} of the application has; choose another.`,
        );
      });
    },

    async start(caller: Caller, applicationId: ApplicationId, id: ExperimentId) {
      const { application, experiment } = await find(caller, applicationId, id);
      // A test whose time is over keeps no other from its baseline.
      await live.endOverdue(application.uid);
      const status = await startLive(parts, application, experiment.uid, () =>
        common.missing(application, id),
      );
      parts.onMoved();
      return { status };
    },

    async stop(caller: Caller, applicationId: ApplicationId, id: ExperimentId, intent: Intent) {
      const { application, experiment } = await find(caller, applicationId, id);
      await stopLive(parts, experiment.uid, intent, () => common.missing(application, id));
      parts.onMoved();
      return { status: 204 as const };
    },

    async removeTest(caller: Caller, applicationId: ApplicationId, id: ExperimentId) {
      const found = await common.find(caller, applicationId, id);
      await common.remove(found, async (tx) => {
        await release(tx, found.experiment);
        await removeUnsettled(tx, found.experiment.uid);
      });
      return { status: 204 as const };
    },
  };
}

/** What both kinds show of a test beside what is theirs. */
export async function liveBodies(
  { database }: LiveParts,
  tests: readonly ExperimentsTable[],
): Promise<(test: ExperimentsTable) => ReturnType<typeof liveBody>> {
  const counts = await countsOf(database.read, tests);
  return (test) => liveBody(test, counts(test));
}

function liveBody(test: ExperimentsTable, counts: Parameters<typeof progressBody>[1]) {
  const { started_at, completed_at } = test;
  return {
    ...shownBody(test),
    ...(started_at === null ? {} : { started_at: rfc3339(started_at) }),
    ...(completed_at === null ? {} : { completed_at: rfc3339(completed_at) }),
    ...progressBody(test, counts),
  };
}

/** The fields of an object with those that are JSON already. */
export function withFindings(body: object, findings: string): RawReply {
  const raw = `${JSON.stringify(body).slice(0, -1)},${findings.slice(1)}\n`;
  return { status: 200, raw, contentType: 'application/json; charset=utf-8' };
}
