/**
 * Cancels and deletes runs. A run that is queued, or waits for its result, is canceled at once. For a running one the cancel
 * request is stored, and its worker is notified and ends the app. Deleting a run removes its row; its worker ends the app
 * when the row is gone. Runs that the app of a workflow created are canceled with it. An ensemble run stores the request too,
 * and the job that advances ensembles cancels its child runs.
 */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import type { Contents } from '../../platform/blobs/contents.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import { listChildRunIds } from '../store/ensemble-runs.ts';
import { removeLogChunksOfRuns } from '../store/log-chunks.ts';
import { removeRuns } from '../store/runs.ts';
import type { RunsTable } from '../store/schema.ts';
import { cancelOrRequestCancel } from '../store/transitions.ts';
import { recordEndedRun } from '../tracing/run-spans.ts';
import { listActiveChildren } from '../workflows/children.ts';

/** Cancels the run, or requests it from its worker. Does nothing to a run that has ended. */
export async function cancelRun(
  parts: { database: Database; clock: Clock; tracing: Tracing | null },
  run: RunsTable,
): Promise<void> {
  const { database, clock } = parts;
  const status = await database.transact((tx) => cancelInTransaction(tx, run, clock.now()));
  notifyCanceled(database, status);
  if (status === 'canceled') await recordEndedRun(parts, run);
}

/** Returns the status for `notifyCanceled`, which is called after the transaction. */
export async function cancelInTransaction(
  tx: Writer,
  run: Pick<RunsTable, 'id' | 'application_uid' | 'status' | 'api_access'>,
  now: number,
): Promise<RunStatusV2 | null> {
  const error = `The run was canceled before it ${run.status === 'none' ? 'had a result' : 'started'}.`;
  const status = await cancelOrRequestCancel(tx, run, error, now);
  // The request above locks the workflow, so its app can create no run that this list lacks.
  if (status !== null && run.api_access !== null) await cancelDescendants(tx, [run.id], now);
  return status;
}

/** Level by level: the cancel of a workflow locks it, so that its app can create no run that the next list lacks. */
async function cancelDescendants(tx: Writer, above: readonly RunId[], now: number): Promise<void> {
  const error = 'The run was canceled with the workflow that created it, before it started.';
  for (let parents = above; parents.length > 0; ) {
    const children = await listActiveChildren(tx, parents);
    for (const child of children) await cancelOrRequestCancel(tx, child, error, now);
    parents = children.filter(({ api_access }) => api_access !== null).map(({ id }) => id);
  }
}

/** Cancels the runs below those workflows among the runs. They are locked first, so that their apps create no further run. */
async function cancelBelowDeleted(tx: Writer, ids: readonly RunId[], now: number): Promise<void> {
  if (ids.length === 0) return;
  const query = tx
    .selectFrom('runs')
    .select('id')
    .where('id', 'in', ids)
    .where('api_access', 'is not', null)
    .orderBy('id');
  const workflows = await locked(tx, query, 'update').execute();
  await cancelDescendants(
    tx,
    workflows.map(({ id }) => id),
    now,
  );
}

/** Notifies the other processes; a run without a status had ended before. */
export function notifyCanceled(database: Pick<Database, 'notify'>, status: RunStatusV2 | null): void {
  if (status && status !== 'canceled') database.notify('runs-canceled');
  // Also for a running one: runs below it may have been queued.
  if (status) database.notify('runs-ended');
}

const LOG_CHUNK_BATCH_SIZE = 500;

/** A run to delete. The run of an ensemble is deleted with its child runs. */
type DeletableRun = Pick<RunsTable, 'id'> & Partial<Pick<RunsTable, 'run_type'>>;

interface RemovedRuns {
  /** Runs with more log lines than the transaction removes. */
  withLogLines: RunId[];
  blobs: string[];
}

/**
 * Deletes runs with their contents, in any status. A run may have a day of log lines, so these are removed first, in small
 * transactions that are no effect of a request. The transaction of the run removes later lines after its row, which the
 * writer of lines locks. So a crash leaves no line of a deleted run.
 */
export class RunDeletion {
  readonly #database: Database;
  readonly #contents: Contents;
  readonly #clock: Clock;

  constructor({ database, contents, clock }: { database: Database; contents: Contents; clock: Clock }) {
    this.#database = database;
    this.#contents = contents;
    this.#clock = clock;
  }

  /** Deletes the runs in a transaction of its own. */
  async deleteRuns(runs: readonly DeletableRun[]): Promise<void> {
    await this.removeLogLines(runs);
    await this.finish(await this.#database.transact((tx) => this.removeRows(tx, runs)));
  }

  /** Removes log lines in small transactions. Call it before the transaction that removes the rows. */
  async removeLogLines(runs: readonly DeletableRun[]): Promise<void> {
    const children = await listChildRunIds(this.#database.read, listEnsembles(runs));
    await this.#removeLines([...runs.map((run) => run.id), ...children]);
  }

  /** Removes the rows of the runs and of their child runs. Pass the result to `finish`. */
  async removeRows(tx: Writer, runs: readonly DeletableRun[]): Promise<RemovedRuns> {
    const named = runs.map((run) => run.id);
    await cancelBelowDeleted(tx, named, this.#clock.now());
    const contentIds = await removeRuns(tx, named);
    // Planned child runs are gone by now, so that each of them has either become a run, or never will.
    const children = await listChildRunIds(tx, listEnsembles(runs));
    await cancelBelowDeleted(tx, children, this.#clock.now());
    contentIds.push(...(await removeRuns(tx, children)));
    const removed = [...named, ...children];
    const lines = await removeLogChunksOfRuns(tx, removed, LOG_CHUNK_BATCH_SIZE);
    return {
      withLogLines: lines === LOG_CHUNK_BATCH_SIZE ? removed : [],
      blobs: await this.#contents.remove(tx, contentIds),
    };
  }

  /** Removes the blobs and the remaining log lines. Call it after the transaction. */
  async finish({ withLogLines, blobs }: RemovedRuns): Promise<void> {
    this.#database.notify('runs-canceled');
    await this.#contents.removeBlobs(blobs);
    // Apps can write more than a hundred megabytes in between.
    if (withLogLines.length > 0) await this.#removeLines(withLogLines);
  }

  async #removeLines(ids: readonly RunId[]): Promise<void> {
    const removeBatch = (tx: Writer) => removeLogChunksOfRuns(tx, ids, LOG_CHUNK_BATCH_SIZE);
    while ((await this.#database.transact(removeBatch, { durable: false })) === LOG_CHUNK_BATCH_SIZE);
  }
}

function listEnsembles(runs: readonly DeletableRun[]): RunId[] {
  return runs.filter((run) => run.run_type === 'ensemble').map((run) => run.id);
}
