/**
 * Starts, stops and deletes shadow and switchback tests, each in one transaction with the route that gives a test the runs
 * of its baseline (runs/store/routes.ts): the route is there exactly while the test has started and its time is not over.
 */

import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import type { InstanceId } from '@switchyard/contract/schemas/ids.ts';
import type { OnlineTestTransition } from '@switchyard/contract/states.ts';
import type { ApplicationsTable } from '../../applications/schema.ts';
import { lockLiveApplication } from '../../applications/store.ts';
import { type Clock, formatRfc3339 } from '../../clock.ts';
import type { Database, Writer } from '../../database/database.ts';
import { badRequest, type Problem, quoteValue } from '../../http/errors/problem.ts';
import { findInstance } from '../../instances/store.ts';
import { removeWaitingPlannedRuns } from '../../runs/store/planned-runs.ts';
import {
  acquireRoute,
  removeCapturesOfExperiment,
  removeRoutesOfExperiment,
} from '../../runs/store/routes.ts';
import { findVersion } from '../../versions/store.ts';
import { lockExperiment, markResultsPending } from '../store/experiments.ts';
import {
  buildShadowRoute,
  buildSwitchbackRoute,
  computePlanEnd,
  parseShadowDefinition,
  parseSwitchbackDefinition,
  type ShadowDefinition,
  type SwitchbackDefinition,
} from '../store/online-test-definitions.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { transitionOnlineTest } from '../store/transitions.ts';
import { endCopying } from './shadow-copies.ts';

interface Parts {
  database: Database;
  clock: Clock;
}

/** What one is called in sentences. */
function formatTestKind({ kind }: Pick<ExperimentsTable, 'kind'>): string {
  return `${kind} test`;
}

export type TestStopIntent = 'complete' | 'cancel';

/** Nothing is to be done: the test has started. */
class HasStartedError extends Error {}

/**
 * Starts a draft: 204, or 304 for one that has started already. Throws `missing` when it was deleted meanwhile; everything
 * else that keeps it from starting is a 400.
 */
export async function startOnlineTest(
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
    await lockLiveApplication(tx, application);
    const held = await lockExperiment(tx, uid);
    if (!held) throw missing();
    if (held.status === 'started') throw new HasStartedError();
    if (held.status !== 'draft')
      throw badRequest(
        `The ${formatTestKind(held)} ${quoteValue(held.id)} is ${held.status}; only a draft can be started. Make another.`,
      );
    const now = clock.now();
    const { rule, sides, definition } = held.kind === 'shadow' ? shadow(held, now) : switchback(held, now);
    const [baseline] = sides;
    for (const id of sides) await checkSide(tx, application, held, id);
    const taken = await acquireRoute(tx, application.uid, baseline, {
      experimentUid: held.uid,
      experimentId: held.id,
      rule,
    });
    if (taken)
      throw badRequest(
        `The runs of the instance ${quoteValue(baseline)} belong to the ${taken.kind} test ${quoteValue(taken.experiment_id)}, which has started; stop that one first.`,
      );
    const changes = { started_at: now, updated_at: now, definition: JSON.stringify(definition) };
    await transitionOnlineTest(tx, held.uid, { from: 'draft', to: 'started' }, changes);
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
  const of = `the instance ${quoteValue(id)} of the ${formatTestKind(test)} ${quoteValue(test.id)}`;
  const instance = await findInstance(tx, application.uid, id as InstanceId);
  if (!instance)
    throw badRequest(`T${of.slice(1)} was deleted; make an instance of that id, or another test.`);
  if (!(await findVersion(tx, application.uid, instance.version_id)))
    throw badRequest(
      `The version ${quoteValue(instance.version_id)} of ${of} was deleted; give the instance another version.`,
    );
}

function shadow(held: ExperimentsTable, now: number) {
  const definition: ShadowDefinition = parseShadowDefinition(held);
  if (definition.until !== null && definition.until <= now)
    throw badRequest(
      `termination_events.time is ${quoteValue(formatRfc3339(definition.until))}, which is over; make another test with a later one.`,
    );
  return {
    definition,
    sides: [definition.baseline, ...definition.candidates] as const,
    rule: buildShadowRoute(definition, now),
  };
}

function switchback(held: ExperimentsTable, now: number) {
  const drawn = parseSwitchbackDefinition(held);
  const start = drawn.start ?? now;
  const definition: SwitchbackDefinition = { ...drawn, start };
  const end = computePlanEnd(definition);
  if (end !== null && end <= now)
    throw badRequest(`The plan has ended at ${formatRfc3339(end)}; make another test with a later start.`);
  return {
    definition,
    sides: [definition.baseline, definition.candidate] as const,
    rule: buildSwitchbackRoute(definition, start),
  };
}

type EndStatus = Extract<OnlineTestTransition, { from: 'started' }>['to'];

const AFTER: Record<TestStopIntent, EndStatus> = { complete: 'completed', cancel: 'canceled' };

/**
 * Stops a test; does nothing to one that has ended as the intent wants it. Throws `missing` when it was deleted meanwhile. What is
 * left to do with its copies is seen to by live.ts.
 */
export async function stopOnlineTest(
  { database, clock }: Parts,
  uid: string,
  intent: TestStopIntent,
  missing: () => Problem,
): Promise<void> {
  const after = AFTER[intent];
  await database.transact(async (tx) => {
    const held = await lockExperiment(tx, uid);
    if (!held) throw missing();
    if (held.status === after) return;
    if (held.status !== 'started')
      throw badRequest(
        held.status === 'draft'
          ? `The ${formatTestKind(held)} ${quoteValue(held.id)} is a draft; start it before it is stopped, or delete it.`
          : `The ${formatTestKind(held)} ${quoteValue(held.id)} is ${held.status} already; it cannot become ${after}.`,
      );
    const now = clock.now();
    if (held.kind === 'shadow' && intent === 'complete') await endCopying(tx, held, now);
    else await releaseBaseline(tx, held);
    if (intent === 'cancel') await removeWaitingPlannedRuns(tx, held.uid);
    await endOnlineTest(tx, held, { status: after, at: now, now });
  });
  database.notify('runs-planned');
}

/** Writes that the test is over since `at`; its results are made when all that counts for them has ended. */
export async function endOnlineTest(
  tx: Writer,
  { uid }: Pick<ExperimentsTable, 'uid'>,
  { status, at, now }: { status: EndStatus; at: number; now: number },
): Promise<void> {
  const ending = { completed_at: at, updated_at: now };
  await transitionOnlineTest(tx, uid, { from: 'started', to: status }, ending);
  await markResultsPending(tx, uid);
}

/**
 * Lets go of the runs of the baseline, and forgets what was noted and not copied. Waits for runs that the test notes or
 * sends right now, so that none is after it.
 */
export async function releaseBaseline(
  tx: Writer,
  { uid, application_uid }: Pick<ExperimentsTable, 'uid' | 'application_uid'>,
): Promise<void> {
  await removeRoutesOfExperiment(tx, uid, application_uid);
  await removeCapturesOfExperiment(tx, uid);
}
