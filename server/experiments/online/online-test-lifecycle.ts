/**
 * Starts and stops shadow and switchback tests, each in one transaction with the route that captures the runs of the
 * baseline (runs/store/routes.ts). Invariant: the route exists exactly while the test is started and its time has not ended.
 */
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import type { InstanceId } from '@switchyard/contract/schemas/ids.ts';
import type { OnlineTestTransition } from '@switchyard/contract/states.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { lockLiveApplication } from '../../apps/applications/store.ts';
import { findInstance } from '../../apps/instances/store.ts';
import { findVersion } from '../../apps/versions/store.ts';
import { type Clock, formatRfc3339 } from '../../platform/clock.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, type Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import { removeWaitingPlannedRuns } from '../../runs/store/planned-runs.ts';
import {
  acquireRoute,
  removeCapturesOfExperiment,
  removeRoutesOfExperiment,
} from '../../runs/store/routes.ts';
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
import { countOtherPlans } from '../store/plan-draws.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { transitionOnlineTest } from '../store/transitions.ts';
import { endCopying } from './shadow-copies.ts';

/** Returns the kind for error messages: "shadow test". */
function formatTestKind({ kind }: Pick<ExperimentsTable, 'kind'>): string {
  return `${kind} test`;
}

/** The ways to stop a test: keep its results so far as final, or cancel its copies. */
export type TestStopIntent = 'complete' | 'cancel';

interface LockedChange {
  uid: string;
  clock: Clock;
  /** The 404 for a test that was deleted meanwhile. */
  notFound(): Problem;
}

/** Thrown when the test is started already; it rolls back the audit entry. */
export class AlreadyStartedError extends Error {}

/**
 * Starts a draft. Throws an `AlreadyStartedError` for a test that is started, a 404 for one that was deleted meanwhile, and
 * a 400 for any other reason that prevents the start.
 */
export async function startInTransaction(
  tx: Writer,
  { application, uid, clock, notFound }: LockedChange & { application: ApplicationsTable },
): Promise<void> {
  await lockLiveApplication(tx, application);
  const test = await lockExperiment(tx, uid);
  if (!test) throw notFound();
  if (test.status === 'started') throw new AlreadyStartedError();
  if (test.status !== 'draft')
    throw badRequest(
      `The ${formatTestKind(test)} ${quoteValue(test.id)} is ${test.status}; only a draft can start. Create another test.`,
    );
  const now = clock.now();
  const { rule, sides, definition } =
    test.kind === 'shadow'
      ? planShadow(test, now)
      : planSwitchback(test, now, await countOtherPlans(tx, test));
  const [baseline] = sides;
  for (const id of sides) await checkSide(tx, application, test, id);
  const conflict = await acquireRoute(tx, application.uid, baseline, {
    experimentUid: test.uid,
    experimentId: test.id,
    rule,
  });
  if (conflict)
    throw badRequest(
      `The runs of the instance ${quoteValue(baseline)} belong to the ${conflict.kind} test ${quoteValue(conflict.experiment_id)}, which has started; stop that one first.`,
    );
  const changes = { started_at: now, updated_at: now, definition: JSON.stringify(definition) };
  await transitionOnlineTest(tx, test.uid, { from: 'draft', to: 'started' }, changes);
}

/** Throws a 400 for an instance that cannot run: it or its version was deleted since the draft was created. */
async function checkSide(
  tx: Writer,
  application: ApplicationsTable,
  test: ExperimentsTable,
  id: string,
): Promise<void> {
  if (isLatest(id)) return;
  const side = `the instance ${quoteValue(id)} of the ${formatTestKind(test)} ${quoteValue(test.id)}`;
  const instance = await findInstance(tx, application.uid, id as InstanceId);
  if (!instance)
    throw badRequest(`T${side.slice(1)} was deleted; create an instance with that id, or another test.`);
  if (!(await findVersion(tx, application.uid, instance.version_id)))
    throw badRequest(
      `The version ${quoteValue(instance.version_id)} of ${side} was deleted; give the instance another version.`,
    );
}

/** Returns the definition, the sides and the route of a shadow test that starts now. Throws a 400 when its end has passed. */
function planShadow(test: ExperimentsTable, now: number) {
  const definition: ShadowDefinition = parseShadowDefinition(test);
  if (definition.until !== null && definition.until <= now)
    throw badRequest(
      `termination_events.time is ${quoteValue(formatRfc3339(definition.until))}, which is in the past; create another test with a later time.`,
    );
  return {
    definition,
    sides: [definition.baseline, ...definition.candidates] as const,
    rule: buildShadowRoute(definition, now, test.uid),
  };
}

/** Returns the definition, the sides and the route of a switchback test that starts now. Throws a 400 when its plan has ended. */
function planSwitchback(test: ExperimentsTable, now: number, redraws: number) {
  const drawn = parseSwitchbackDefinition(test);
  const start = drawn.start ?? now;
  const definition: SwitchbackDefinition = { ...drawn, start, redraws };
  const end = computePlanEnd(definition);
  if (end !== null && end <= now)
    throw badRequest(`The plan ended at ${formatRfc3339(end)}; create another test with a later start.`);
  return {
    definition,
    sides: [definition.baseline, definition.candidate] as const,
    rule: buildSwitchbackRoute(definition, start),
  };
}

type EndStatus = Extract<OnlineTestTransition, { from: 'started' }>['to'];

const STATUS_AFTER: Record<TestStopIntent, EndStatus> = { complete: 'completed', cancel: 'canceled' };

/**
 * Stops a test; does nothing when it has the status of the intent already. Throws a 404 when the test was deleted meanwhile,
 * and a 400 for a draft and for a test that ended differently. A job ends the copies of the test.
 */
export async function stopInTransaction(
  tx: Writer,
  { uid, intent, clock, notFound }: LockedChange & { intent: TestStopIntent },
): Promise<void> {
  const after = STATUS_AFTER[intent];
  const test = await lockExperiment(tx, uid);
  if (!test) throw notFound();
  if (test.status === after) return;
  if (test.status !== 'started')
    throw badRequest(
      test.status === 'draft'
        ? `The ${formatTestKind(test)} ${quoteValue(test.id)} is a draft; start it before you stop it, or delete it.`
        : `The ${formatTestKind(test)} ${quoteValue(test.id)} is ${test.status} already; it cannot become ${after}.`,
    );
  const now = clock.now();
  if (test.kind === 'shadow' && intent === 'complete') await endCopying(tx, test, now);
  else await releaseBaseline(tx, test);
  if (intent === 'cancel') await removeWaitingPlannedRuns(tx, test.uid);
  await endOnlineTest(tx, test, { status: after, at: now, now });
}

/** Stores that the test ended at `at`. Its results are computed once all runs that count have ended. */
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
 * Removes the route of the baseline and the captured runs that were not copied. Waits for requests that use the route at
 * this moment, so that no captured run follows.
 */
export async function releaseBaseline(
  tx: Writer,
  { uid, application_uid }: Pick<ExperimentsTable, 'uid' | 'application_uid'>,
): Promise<void> {
  await removeRoutesOfExperiment(tx, uid, application_uid);
  await removeCapturesOfExperiment(tx, uid);
}
