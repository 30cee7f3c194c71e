/**
 * What started tests say of the runs of an instance. A shadow test has them noted, to be copied; a switchback test sends
 * them to the instance of the unit that is on. A row per instance, which the test writes when it starts and takes away
 * when it is over: that there is one only is what keeps two tests from the same instance. It is read when a run is made
 * and confirmed in the transaction that brings the run, so that nothing is noted for, or sent by, a test that is over.
 */

import { isLatest, RESERVED_INSTANCES } from '@switchyard/contract/applications/reserved-instances.ts';
import type { ExperimentId, RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../database/database.ts';
import { prepareStatement } from '../../database/prepared-statements.ts';
import { locked } from '../../database/row-locks.ts';
import type { CapturedRunsTable, RunRoutesTable } from './schema.ts';

/** Times are milliseconds since the epoch. */
export interface ShadowRoute {
  kind: 'shadow';
  /** Runs made at or after it are noted. */
  from: number;
  /** Runs made before it are noted; null for no end. */
  until: number | null;
}

export interface SwitchbackRoute {
  kind: 'switchback';
  start: number;
  unitMs: number;
  /** The instance of each unit, in order. */
  units: readonly string[];
}

export interface RunRoute {
  experimentUid: string;
  experimentId: ExperimentId;
  rule: ShadowRoute | SwitchbackRoute;
}

/** One name for what `latest` and its older name stand for. */
export function normalizeInstanceId(instanceId: string): string {
  return isLatest(instanceId) ? RESERVED_INSTANCES[0] : instanceId;
}

/** The unit that is on at the instant, or null before the first and after the last. */
export function findUnitIndex({ start, unitMs, units }: SwitchbackRoute, at: number): number | null {
  const index = Math.floor((at - start) / unitMs);
  return index >= 0 && index < units.length ? index : null;
}

/** Whether a shadow test copies a run made at the instant. */
export function isCaptured({ from, until }: ShadowRoute, at: number): boolean {
  return at >= from && (until === null || at < until);
}

const selectRoute = prepareStatement((db, { uid, instance }: { uid: string; instance: string }) =>
  db
    .selectFrom('run_routes')
    .selectAll()
    .where('application_uid', '=', uid)
    .where('instance_id', '=', instance),
);

export async function findRoute(
  db: Reader,
  applicationUid: string,
  instanceId: string,
): Promise<RunRoute | null> {
  const [row] = await selectRoute(db, { uid: applicationUid, instance: normalizeInstanceId(instanceId) });
  if (!row) return null;
  return {
    experimentUid: row.experiment_uid,
    experimentId: row.experiment_id as ExperimentId,
    rule: JSON.parse(row.rule) as RunRoute['rule'],
  };
}

/** Whether the test still has the runs of the instance, and has them until the transaction is over. */
export async function hasRoute(
  tx: Writer,
  applicationUid: string,
  instanceId: string,
  experimentUid: string,
): Promise<boolean> {
  const query = tx
    .selectFrom('run_routes')
    .select('experiment_uid')
    .where('application_uid', '=', applicationUid)
    .where('instance_id', '=', normalizeInstanceId(instanceId))
    .where('experiment_uid', '=', experimentUid);
  return (await locked(tx, query, 'share').executeTakeFirst()) !== undefined;
}

/** Gives the runs of the instance to the test; answers the test that has them when another does. */
export async function acquireRoute(
  tx: Writer,
  applicationUid: string,
  instanceId: string,
  route: RunRoute,
): Promise<Pick<RunRoutesTable, 'experiment_id' | 'kind'> | null> {
  const instance_id = normalizeInstanceId(instanceId);
  const result = await tx
    .insertInto('run_routes')
    .values({
      application_uid: applicationUid,
      instance_id,
      kind: route.rule.kind,
      experiment_uid: route.experimentUid,
      experiment_id: route.experimentId,
      rule: JSON.stringify(route.rule),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (result.numInsertedOrUpdatedRows === 1n) return null;
  const taken = await tx
    .selectFrom('run_routes')
    .select(['experiment_id', 'kind'])
    .where('application_uid', '=', applicationUid)
    .where('instance_id', '=', instance_id)
    .executeTakeFirst();
  // Between the two statements the other test may have ended.
  return taken ?? acquireRoute(tx, applicationUid, instanceId, route);
}

/** Lets go of whatever the test has. */
export async function removeRoutesOfExperiment(
  tx: Writer,
  experimentUid: string,
  applicationUid: string,
): Promise<void> {
  await tx
    .deleteFrom('run_routes')
    .where('application_uid', '=', applicationUid)
    .where('experiment_uid', '=', experimentUid)
    .execute();
}

/** Notes that the test is to copy the run, in the transaction that brings the run. */
export async function insertCapture(tx: Writer, capture: CapturedRunsTable): Promise<void> {
  await tx.insertInto('captured_runs').values(capture).execute();
}

/** What the test has not dealt with yet, oldest first. */
export function listCaptures(db: Reader, experimentUid: string, limit: number): Promise<CapturedRunsTable[]> {
  return db
    .selectFrom('captured_runs')
    .selectAll()
    .where('experiment_uid', '=', experimentUid)
    .orderBy('at')
    .orderBy('run_id')
    .limit(limit)
    .execute();
}

/** Takes notes of the test away once it has dealt with them; answers those that were still there. */
export async function claimCaptures(
  tx: Writer,
  experimentUid: string,
  runs: readonly RunId[],
): Promise<RunId[]> {
  if (runs.length === 0) return [];
  const rows = await tx
    .deleteFrom('captured_runs')
    .where('experiment_uid', '=', experimentUid)
    .where('run_id', 'in', runs)
    .returning('run_id')
    .execute();
  return rows.map((row) => row.run_id);
}

/** Whether the test has anything to deal with: one look at an index. */
export async function hasCaptures(db: Reader, experimentUid: string): Promise<boolean> {
  const row = await db
    .selectFrom('captured_runs')
    .select('run_id')
    .where('experiment_uid', '=', experimentUid)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Forgets what the test has noted and will not deal with. Its route has to be gone before, or more may come. */
export async function removeCapturesOfExperiment(tx: Writer, experimentUid: string): Promise<void> {
  await tx.deleteFrom('captured_runs').where('experiment_uid', '=', experimentUid).execute();
}

/** Forgets the notes on runs that go. */
export async function removeCapturesOfRuns(tx: Writer, runs: readonly RunId[]): Promise<void> {
  if (runs.length > 0) await tx.deleteFrom('captured_runs').where('run_id', 'in', runs).execute();
}

/** Removes the routes of an application, at most `limit` at once; answers a null for each. */
export async function removeRoutesOfApplication(
  tx: Writer,
  applicationUid: string,
  limit: number,
): Promise<null[]> {
  const rows = await tx
    .deleteFrom('run_routes')
    .where('application_uid', '=', applicationUid)
    .where('instance_id', 'in', (eb) =>
      eb
        .selectFrom('run_routes')
        .select('instance_id')
        .where('application_uid', '=', applicationUid)
        .limit(limit),
    )
    .returning('instance_id')
    .execute();
  return rows.map(() => null);
}
