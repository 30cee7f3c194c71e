/**
 * Starts, stops and deletes shadow and switchback tests, each in one transaction with the route that gives a test the runs
 * of its baseline (runs/routes.ts): the route is there exactly while the test has started and its time is not over.
 */
import type { InstanceId } from '@switchyard/contract/ids.ts';
import { isLatest } from '@switchyard/contract/reserved-instances.ts';
import type { ExperimentStatus } from '@switchyard/contract/states.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { checkApplication } from '../applications/store.ts';
import { type Clock, rfc3339 } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import { badRequest, type Problem, shown } from '../http/problem.ts';
import { findInstance } from '../instances/store.ts';
import { forgetPlanned } from '../runs/plan.ts';
import { dropCaptures, removeRoutes, takeRoute } from '../runs/routes.ts';
import { findVersion } from '../versions/store.ts';
import { endCopying } from './copy.ts';
import {
  planEnd,
  type ShadowDefinition,
  type SwitchbackDefinition,
  shadowOf,
  shadowRoute,
  switchbackOf,
  switchbackRoute,
} from './live-definitions.ts';
import type { ExperimentsTable } from './schema.ts';
import { holdExperiment, insertUnsettled, updateExperiment } from './store.ts';

interface Parts {
  database: Database;
  clock: Clock;
}

/** What one is called in sentences. */
export function nounOf({ kind }: Pick<ExperimentsTable, 'kind'>): string {
  return `${kind} test`;
}

export type Intent = 'complete' | 'cancel';

/** Nothing is to be done: the test has started. */
class HasStartedError extends Error {}

/**
 * Starts a draft: 204, or 304 for one that has started already. Throws `missing` when it was deleted meanwhile; everything
 * else that keeps it from starting is a 400.
 */
export async function startLive(
  parts: Parts,
  application: ApplicationsTable,
  uid: string,
  missing: () => Problem,
): Promise<204 | 304> {
  try {
    await start(parts, application, uid, missing);
    return 204;
  } catch (error) {
    if (error instanceof HasStartedError) return 304;
    throw error;
  }
}

function start(
  { database, clock }: Parts,
  application: ApplicationsTable,
  uid: string,
  missing: () => Problem,
): Promise<void> {
  return database.transact(async (tx) => {
    await checkApplication(tx, application);
    const held = await holdExperiment(tx, uid);
    if (!held) throw missing();
    if (held.status === 'started') throw new HasStartedError();
    if (held.status !== 'draft')
      throw badRequest(
        `The ${nounOf(held)} ${shown(held.id)} is ${held.status}; only a draft can be started. Make another.`,
      );
    const now = clock.now();
    const { rule, sides, definition } = held.kind === 'shadow' ? shadow(held, now) : switchback(held, now);
    const [baseline] = sides;
    for (const id of sides) await checkSide(tx, application, held, id);
    const taken = await takeRoute(tx, application.uid, baseline, {
      experimentUid: held.uid,
      experimentId: held.id,
      rule,
    });
    if (taken)
      throw badRequest(
        `The runs of the instance ${shown(baseline)} belong to the ${taken.kind} test ${shown(taken.experiment_id)}, which has started; stop that one first.`,
      );
    const changes = { status: 'started', started_at: now, updated_at: now } as const;
    await updateExperiment(tx, held.uid, { ...changes, definition: JSON.stringify(definition) });
  });
}

/** Throws the 400 for an instance that cannot run: deleted since the draft was made, or its version was. */
async function checkSide(
  tx: Writer,
  application: ApplicationsTable,
  test: ExperimentsTable,
  id: string,
): Promise<void> {
  if (isLatest(id)) return;
  const of = `the instance ${shown(id)} of the ${nounOf(test)} ${shown(test.id)}`;
  const instance = await findInstance(tx, application.uid, id as InstanceId);
  if (!instance)
    throw badRequest(`T${of.slice(1)} was deleted; make an instance of that id, or another test.`);
  if (!(await findVersion(tx, application.uid, instance.version_id)))
    throw badRequest(
      `The version ${shown(instance.version_id)} of ${of} was deleted; give the instance another version.`,
    );
}

function shadow(held: ExperimentsTable, now: number) {
  const definition: ShadowDefinition = shadowOf(held);
  if (definition.until !== null && definition.until <= now)
    throw badRequest(
      `termination_events.time is ${shown(rfc3339(definition.until))}, which is over; make another test with a later one.`,
    );
  return {
    definition,
    sides: [definition.baseline, ...definition.candidates] as const,
    rule: shadowRoute(definition, now),
  };
}

function switchback(held: ExperimentsTable, now: number) {
  const drawn = switchbackOf(held);
  const start = drawn.start ?? now;
  const definition: SwitchbackDefinition = { ...drawn, start };
  const end = planEnd(definition);
  if (end !== null && end <= now)
    throw badRequest(`The plan has ended at ${rfc3339(end)}; make another test with a later start.`);
  return {
    definition,
    sides: [definition.baseline, definition.candidate] as const,
    rule: switchbackRoute(definition, start),
  };
}

const AFTER: Record<Intent, ExperimentStatus> = { complete: 'completed', cancel: 'canceled' };

/**
 * Stops a test; does nothing to one that has ended as the intent wants it. Throws `missing` when it was deleted meanwhile. What is
 * left to do with its copies is seen to by live.ts.
 */
export async function stopLive(
  { database, clock }: Parts,
  uid: string,
  intent: Intent,
  missing: () => Problem,
): Promise<void> {
  const after = AFTER[intent];
  await database.transact(async (tx) => {
    const held = await holdExperiment(tx, uid);
    if (!held) throw missing();
    if (held.status === after) return;
    if (held.status !== 'started')
      throw badRequest(
        held.status === 'draft'
          ? `The ${nounOf(held)} ${shown(held.id)} is a draft; start it before it is stopped, or delete it.`
          : `The ${nounOf(held)} ${shown(held.id)} is ${held.status} already; it cannot become ${after}.`,
      );
    const now = clock.now();
    if (held.kind === 'shadow' && intent === 'complete') await endCopying(tx, held, now);
    else await release(tx, held);
    if (intent === 'cancel') await forgetPlanned(tx, held.uid);
    await endLive(tx, held, { status: after, at: now, now });
  });
  database.notify('runs-planned');
}

/** Writes that the test is over since `at`; its results are made when all that counts for them has ended. */
export async function endLive(
  tx: Writer,
  { uid }: Pick<ExperimentsTable, 'uid'>,
  { status, at, now }: { status: ExperimentStatus; at: number; now: number },
): Promise<void> {
  await updateExperiment(tx, uid, { status, completed_at: at, updated_at: now });
  await insertUnsettled(tx, uid);
}

/**
 * Lets go of the runs of the baseline, and forgets what was noted and not copied. Waits for runs that the test notes or
 * sends right now, so that none is after it.
 */
export async function release(
  tx: Writer,
  { uid, application_uid }: Pick<ExperimentsTable, 'uid' | 'application_uid'>,
): Promise<void> {
  await removeRoutes(tx, uid, application_uid);
  await dropCaptures(tx, uid);
}
