/**
 * Who is alive. A worker writes a heartbeat; whoever has not for the length of a lease is dead, and what it held is
 * queued again. A worker that starts in a data folder proves every earlier one of that folder dead at once, because the
 * folder is locked.
 */
import { LEASE_MS } from '@switchyard/contract/limits.ts';
import type { Clock } from '../clock.ts';
import type { Capacity } from '../config.ts';
import type { Database, Reader, Writer } from '../database/database.ts';
import type { Log } from '../log.ts';
import { Reconciler } from '../reconcile/reconciler.ts';

const HEARTBEAT_MS = LEASE_MS / 6;

export interface Worker {
  id: string;
  folderId: string;
  capacity: Capacity;
}

/** Enters the worker and removes the earlier ones of its folder. */
export async function enterWorker(database: Database, worker: Worker, now: number): Promise<void> {
  await database.transact(async (tx) => {
    await tx.deleteFrom('workers').where('folder_id', '=', worker.folderId).execute();
    await beat(tx, worker, now);
  });
}

async function beat(tx: Writer, worker: Worker, now: number): Promise<void> {
  await tx
    .insertInto('workers')
    .values({
      id: worker.id,
      folder_id: worker.folderId,
      capacity: JSON.stringify(worker.capacity),
      heartbeat_at: now,
    })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ heartbeat_at: now }))
    .execute();
}

export async function leaveWorker(database: Database, worker: Worker): Promise<void> {
  await database.transact((tx) => tx.deleteFrom('workers').where('id', '=', worker.id).execute());
}

/** Keeps the worker alive. */
export function heartbeat(parts: { database: Database; worker: Worker; clock: Clock; log: Log }): Reconciler {
  const { database, worker, clock, log } = parts;
  return new Reconciler({
    name: 'heartbeat',
    everyMs: HEARTBEAT_MS,
    clock,
    log,
    run: () => database.transact((tx) => beat(tx, worker, clock.now()), { durable: false }),
  });
}

/** Ids of the workers that are alive. */
export async function livingWorkers(db: Reader, now: number): Promise<{ id: string; capacity: Capacity }[]> {
  const rows = await db
    .selectFrom('workers')
    .select(['id', 'capacity'])
    .where('heartbeat_at', '>', now - LEASE_MS)
    .execute();
  return rows.map((row) => ({ id: row.id, capacity: JSON.parse(row.capacity) as Capacity }));
}

/** Forgets workers that have been dead for long. */
export async function forgetDeadWorkers(tx: Writer, now: number): Promise<void> {
  await tx
    .deleteFrom('workers')
    .where('heartbeat_at', '<', now - 20 * LEASE_MS)
    .execute();
}
