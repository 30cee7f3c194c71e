/**
 * Workers that are lost: their heartbeat has stopped. A worker that stops by itself leaves no row and is not lost. A lost
 * worker counts until its heartbeat returns, until another worker starts, or for a day.
 */
import { LEASE_DURATION_MS } from '@switchyard/contract/limits.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import type { LostWorkersTable } from './schema.ts';

const RETENTION_MS = 24 * 60 * 60 * 1000;

/** A worker without heartbeats, and its last heartbeat in milliseconds since the epoch. */
export type LostWorker = Pick<LostWorkersTable, 'id' | 'heartbeat_at'>;

/** Records a dead worker, and removes the records of a day ago. Call it in the transaction that removes the worker. */
export async function recordLostWorker(tx: Writer, worker: LostWorkersTable): Promise<void> {
  await tx
    .deleteFrom('lost_workers')
    .where('lost_at', '<=', worker.lost_at - RETENTION_MS)
    .execute();
  await tx
    .insertInto('lost_workers')
    .values(worker)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(worker))
    .execute();
}

/** Lists the workers without a heartbeat for the duration of a lease, oldest heartbeat first. */
export async function listLostWorkers(db: Reader, now: number): Promise<LostWorker[]> {
  const workers = await db.selectFrom('workers').select(['id', 'heartbeat_at', 'started_at']).execute();
  const dead = await db
    .selectFrom('lost_workers')
    .select(['id', 'heartbeat_at'])
    .where('lost_at', '>', now - RETENTION_MS)
    .execute();
  const unresponsive = workers.filter(({ heartbeat_at }) => heartbeat_at <= now - LEASE_DURATION_MS);
  const unreplaced = dead.filter(
    ({ id, heartbeat_at }) => !workers.some((worker) => worker.id === id || worker.started_at > heartbeat_at),
  );
  return [...unresponsive, ...unreplaced]
    .map(({ id, heartbeat_at }) => ({ id, heartbeat_at }))
    .sort((one, other) => one.heartbeat_at - other.heartbeat_at);
}
