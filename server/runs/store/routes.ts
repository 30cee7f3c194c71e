/**
 * Routes: the rules of started tests for the runs of an instance. A shadow test captures the runs, to copy them. A
 * switchback test sends them to the instance of the current unit. A test inserts its route when it starts and removes it
 * when it ends. The key allows one route for an instance, which keeps two tests off the same instance. The route is read
 * when a run is submitted, and confirmed in the transaction that inserts the run. So a test that has ended gets no run.
 */
import { createHash } from 'node:crypto';
import { isLatest, RESERVED_INSTANCES } from '@switchyard/contract/applications/reserved-instances.ts';
import type { ExperimentId, RunId } from '@switchyard/contract/schemas/ids.ts';
import Type, { type Static } from 'typebox';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { CapturedRunsTable, RunRoutesTable } from './schema.ts';

/** Times are milliseconds since the epoch. */
const ShadowRoute = Type.Object({
  kind: Type.Literal('shadow'),
  /** Runs submitted at or after this time are captured. */
  from: Type.Number(),
  /** Runs submitted before this time are captured; null for no end. */
  until: Type.Union([Type.Number(), Type.Null()]),
  /** Only this share of the runs is captured, drawn by the seed; absent for all. */
  sample: Type.Optional(Type.Object({ share: Type.Number(), seed: Type.String() })),
});
export type ShadowRoute = Static<typeof ShadowRoute>;

const SwitchbackRoute = Type.Object({
  kind: Type.Literal('switchback'),
  start: Type.Number(),
  unitMs: Type.Number(),
  /** The instance of each unit, in order. */
  units: Type.Array(Type.String()),
});
export type SwitchbackRoute = Static<typeof SwitchbackRoute>;

const parseRule = parseColumn(
  'run_routes',
  'experiment_uid',
  'rule',
  Type.Union([ShadowRoute, SwitchbackRoute]),
);

export interface RunRoute {
  experimentUid: string;
  experimentId: ExperimentId;
  rule: ShadowRoute | SwitchbackRoute;
}

/** Returns the same id for `latest` and its older name. */
export function normalizeInstanceId(instanceId: string): string {
  return isLatest(instanceId) ? RESERVED_INSTANCES[0] : instanceId;
}

/** Returns the index of the unit at the time, or null before the first unit and after the last. */
export function findUnitIndex({ start, unitMs, units }: SwitchbackRoute, at: number): number | null {
  const index = Math.floor((at - start) / unitMs);
  return index >= 0 && index < units.length ? index : null;
}

/** Returns true if the time of a run is in the window of a shadow test. */
export function isInWindow({ from, until }: ShadowRoute, at: number): boolean {
  return at >= from && (until === null || at < until);
}

const SAMPLE_BYTES = 6;

/**
 * Returns true if the run is in the random sample of a shadow test. A hash of the seed and the run id decides, so every
 * server gives the same answer, and nothing is stored for the other runs.
 */
export function isSampled({ sample }: ShadowRoute, runId: RunId): boolean {
  if (sample === undefined) return true;
  const hash = createHash('sha256').update(`${sample.seed} ${runId}`).digest();
  return hash.readUIntBE(0, SAMPLE_BYTES) < sample.share * 2 ** (8 * SAMPLE_BYTES);
}

const selectRoute = prepareStatement(
  (db, { uid, instance }: { uid: string; instance: string }) =>
    db
      .selectFrom('run_routes')
      .selectAll()
      .where('application_uid', '=', uid)
      .where('instance_id', '=', instance),
  { isReusable: true },
);

/** Returns the route of the instance; null without a started test on it. */
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
    rule: parseRule(row),
  };
}

/** Returns true if the test still has the route of the instance; locks the route until the transaction ends. */
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

/** Inserts the route of the test; returns the other test when that has a route of the instance already, else null. */
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
  const other = await tx
    .selectFrom('run_routes')
    .select(['experiment_id', 'kind'])
    .where('application_uid', '=', applicationUid)
    .where('instance_id', '=', instance_id)
    .executeTakeFirst();
  // Between the two statements the other test may have ended.
  return other ?? acquireRoute(tx, applicationUid, instanceId, route);
}

/** Removes the routes of the test. */
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

/** Records that the test is to copy the run, in the transaction that inserts the run. */
export async function insertCapture(tx: Writer, capture: CapturedRunsTable): Promise<void> {
  await tx.insertInto('captured_runs').values(capture).execute();
}

/** Lists the captured runs of the test, oldest first. */
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

/** Removes captures that the test has processed; returns the runs of those that still existed. */
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

/** Returns true if the test has captured runs; reads an index. */
export async function hasCaptures(db: Reader, experimentUid: string): Promise<boolean> {
  const row = await db
    .selectFrom('captured_runs')
    .select('run_id')
    .where('experiment_uid', '=', experimentUid)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Removes the captures of the test. Remove its routes first, or more captures may follow. */
export async function removeCapturesOfExperiment(tx: Writer, experimentUid: string): Promise<void> {
  await tx.deleteFrom('captured_runs').where('experiment_uid', '=', experimentUid).execute();
}

export async function removeCapturesOfRuns(tx: Writer, runs: readonly RunId[]): Promise<void> {
  if (runs.length > 0) await tx.deleteFrom('captured_runs').where('run_id', 'in', runs).execute();
}

/** Removes at most `limit` routes of an application; returns one null for each, as no content is removed with it. */
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
