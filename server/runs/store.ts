/** Every statement on runs, their events and the lines of their logs. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { RunId } from '@switchyard/contract/ids.ts';
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import type { Reader, Writer } from '../database/database.ts';
import { isAfter } from '../database/list.ts';
import type { PageRequest } from '../http/paging.ts';
import type { RunsTable } from './schema.ts';

/** Writes a new run and the event of its first status. */
export async function insertRun(tx: Writer, run: RunsTable): Promise<void> {
  await tx.insertInto('runs').values(run).execute();
  await insertEvents(tx, [run], run.status, run.created_at);
}

type Changed = Pick<RunsTable, 'id' | 'application_uid'>;

async function insertEvents(
  tx: Writer,
  runs: readonly Changed[],
  status: RunStatusV2,
  at: number,
): Promise<void> {
  if (runs.length === 0) return;
  await tx
    .insertInto('run_events')
    .columns(['run_id', 'application_uid', 'status', 'at'])
    .values(
      runs.map((run) => ({ run_id: run.id, application_uid: run.application_uid, status, at })) as never,
    )
    .execute();
}

export function findRun(db: Reader, applicationUid: string, id: RunId): Promise<RunsTable | undefined> {
  return db
    .selectFrom('runs')
    .selectAll()
    .where('id', '=', id)
    .where('application_uid', '=', applicationUid)
    .executeTakeFirst();
}

export function listRuns(
  db: Reader,
  applicationUid: string,
  window: { start: number; end: number },
  page: PageRequest & { limit: number },
): Promise<RunsTable[]> {
  let query = db
    .selectFrom('runs')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('created_at', '>=', window.start)
    .where('created_at', '<', window.end)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  if (page.after) query = query.where(isAfter('runs', page.after));
  return query.execute();
}

export async function renameRun(
  tx: Writer,
  id: RunId,
  changes: { name: string; description: string },
): Promise<void> {
  await tx.updateTable('runs').set(changes).where('id', '=', id).execute();
}

/** How many runs of the classes wait or execute, for the answer "is there a free slot". */
export async function countActive(tx: Writer, classes: readonly ExecutionClass[]): Promise<number> {
  const row = await tx
    .selectFrom('runs')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('status', 'in', ['queued', 'running'])
    .where('execution_class', 'in', classes)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

export interface Claim {
  workerId: string;
  classes: readonly ExecutionClass[];
  limit: number;
  now: number;
  /** Several processes claim from the table. */
  skipLocked: boolean;
}

/**
 * Claims what is next: highest priority, then oldest, among the classes. Asked class by class, because each then reads
 * its rows in order from the small index of queued runs, however long the queue is.
 */
export async function claimRuns(tx: Writer, claim: Claim): Promise<RunsTable[]> {
  const waiting: Pick<RunsTable, 'id' | 'priority' | 'created_at'>[] = [];
  for (const name of claim.classes) {
    const query = tx
      .selectFrom('runs')
      .select(['id', 'priority', 'created_at'])
      .where('status', '=', 'queued')
      .where('execution_class', '=', name)
      .orderBy('priority')
      .orderBy('created_at')
      .orderBy('id')
      .limit(claim.limit);
    waiting.push(...(await (claim.skipLocked ? query.forUpdate().skipLocked() : query).execute()));
  }
  if (waiting.length === 0) return [];
  const next = waiting.sort(byTurn).slice(0, claim.limit);
  const claimed = await tx
    .updateTable('runs')
    .set((eb) => ({
      status: 'running',
      worker_id: claim.workerId,
      attempt: eb('attempt', '+', 1),
      fence: eb('fence', '+', 1),
      initiated_at: claim.now,
    }))
    .where(
      'id',
      'in',
      next.map((run) => run.id),
    )
    .where('status', '=', 'queued')
    .returningAll()
    .execute();
  await insertEvents(tx, claimed, 'running', claim.now);
  return claimed;
}

function byTurn(one: { id: string; priority: number; created_at: number }, other: typeof one): number {
  return one.priority - other.priority || one.created_at - other.created_at || (one.id < other.id ? -1 : 1);
}

/** What the end of a run writes. */
export type Ending = Partial<RunsTable> & {
  status: 'succeeded' | 'failed' | 'canceled';
  finished_at: number;
};

/** Ends a run that this holder of the fence executes; false when the fence is stale or the run is gone. */
export async function endRunning(
  tx: Writer,
  run: Pick<RunsTable, 'id' | 'application_uid' | 'fence'>,
  ending: Ending,
): Promise<boolean> {
  const result = await tx
    .updateTable('runs')
    .set({ ...ending, worker_id: null })
    .where('id', '=', run.id)
    .where('fence', '=', run.fence)
    .where('status', '=', 'running')
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  await insertEvents(tx, [run], ending.status, ending.finished_at);
  return true;
}

/** Ends a run that waits; false when it no longer does. */
export async function endQueued(tx: Writer, run: Changed, ending: Ending): Promise<boolean> {
  const result = await tx
    .updateTable('runs')
    .set(ending)
    .where('id', '=', run.id)
    .where('status', '=', 'queued')
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  await insertEvents(tx, [run], ending.status, ending.finished_at);
  return true;
}

/** Puts a run back at its old place; false when somebody else has it by now. */
export async function requeue(
  tx: Writer,
  run: Pick<RunsTable, 'id' | 'application_uid' | 'fence' | 'attempt'>,
  at: number,
): Promise<boolean> {
  const result = await tx
    .updateTable('runs')
    .set({ status: 'queued', worker_id: null, initiated_at: null, attempt: run.attempt })
    .where('id', '=', run.id)
    .where('fence', '=', run.fence)
    .where('status', '=', 'running')
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  await insertEvents(tx, [run], 'queued', at);
  return true;
}

/** Notes that a running run is to be canceled; false when it does not run. */
export async function askToCancel(tx: Writer, id: RunId, at: number): Promise<boolean> {
  const result = await tx
    .updateTable('runs')
    .set({ cancel_requested_at: at })
    .where('id', '=', id)
    .where('status', '=', 'running')
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Of the runs a worker executes, those that are to go on. */
export async function listToGoOn(db: Reader, workerId: string): Promise<RunId[]> {
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where('status', '=', 'running')
    .where('worker_id', '=', workerId)
    .where('cancel_requested_at', 'is', null)
    .execute();
  return rows.map((row) => row.id);
}

/** Running runs of workers other than these. */
export function listOrphans(db: Reader, livingWorkers: readonly string[]): Promise<RunsTable[]> {
  let query = db.selectFrom('runs').selectAll().where('status', '=', 'running').limit(500);
  if (livingWorkers.length > 0) query = query.where('worker_id', 'not in', livingWorkers);
  return query.execute();
}

/** Removes runs with what is theirs alone; answers their contents. */
export async function removeRuns(tx: Writer, ids: readonly RunId[]): Promise<(string | null)[]> {
  if (ids.length === 0) return [];
  const rows = await tx
    .deleteFrom('runs')
    .where('id', 'in', ids)
    .returning(['input_content_id', 'output_content_id', 'stdout_content_id', 'log_content_id'])
    .execute();
  await tx.deleteFrom('log_chunks').where('run_id', 'in', ids).execute();
  return rows.flatMap((row) => [
    row.input_content_id,
    row.output_content_id,
    row.stdout_content_id,
    row.log_content_id,
  ]);
}

export async function listRunIds(db: Reader, applicationUid: string, limit: number): Promise<RunId[]> {
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where('application_uid', '=', applicationUid)
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

export async function insertLogChunk(
  tx: Writer,
  chunk: { run_id: RunId; seq: number; at: number; lines: string },
): Promise<void> {
  await tx
    .insertInto('log_chunks')
    .values(chunk)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Chunks after the one given, in order. */
export function listLogChunks(
  db: Reader,
  id: RunId,
  after: number,
  limit: number,
): Promise<{ seq: number; lines: string }[]> {
  return db
    .selectFrom('log_chunks')
    .select(['seq', 'lines'])
    .where('run_id', '=', id)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** Removes lines and events from before the instants. */
export async function forgetOld(tx: Writer, before: { lines: number; events: number }): Promise<void> {
  await tx.deleteFrom('log_chunks').where('at', '<', before.lines).execute();
  await tx.deleteFrom('run_events').where('at', '<', before.events).execute();
}
