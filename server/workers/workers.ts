/**
 * Who is alive. A worker writes a heartbeat; whoever has not for the length of a lease is dead, and what it held is
 * queued again. A worker that starts in a data folder proves every earlier one of that folder dead at once, because the
 * folder is locked.
 */
import { LEASE_DURATION_MS } from '@switchyard/contract/limits.ts';
import type { Clock } from '../clock.ts';
import type { Capacity } from '../config.ts';
import type { Database, Reader, Writer } from '../database/database.ts';
import { prepareStatement } from '../database/prepared-statements.ts';
import { locked } from '../database/row-locks.ts';
import { defineJob, type Job, type JobContext } from '../jobs/define-job.ts';

const HEARTBEAT_INTERVAL_MS = LEASE_DURATION_MS / 6;
/** In this time a living worker has given a heartbeat, also when it is a little late. */
const HEARTBEAT_TIMEOUT_MS = 2 * HEARTBEAT_INTERVAL_MS;

export interface Worker {
  id: string;
  folderId: string;
  capacity: Capacity;
}

/** Enters the worker and removes the earlier ones of its folder. */
export async function registerWorker(database: Database, worker: Worker, now: number): Promise<void> {
  await database.transact(async (tx) => {
    await tx.deleteFrom('workers').where('folder_id', '=', worker.folderId).execute();
    await writeHeartbeat(tx, worker, now);
  });
  database.notify('workers-changed');
}

async function writeHeartbeat(tx: Writer, worker: Worker, now: number): Promise<void> {
  await tx
    .insertInto('workers')
    .values({
      id: worker.id,
      folder_id: worker.folderId,
      capacity: formatCapacity(worker.capacity),
      heartbeat_at: now,
    })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ heartbeat_at: now }))
    .execute();
}

/** Says that the worker takes no more runs, so that nobody counts on its slots while it ends those it has. */
export async function markWorkerDraining(database: Database, worker: Worker): Promise<void> {
  const none: Capacity = { shared: 0, perClass: {} };
  await database.transact(
    (tx) =>
      tx
        .updateTable('workers')
        .set({ capacity: formatCapacity(none) })
        .where('id', '=', worker.id)
        .execute(),
    { durable: false },
  );
}

export async function deregisterWorker(database: Database, worker: Worker): Promise<void> {
  await database.transact((tx) => tx.deleteFrom('workers').where('id', '=', worker.id).execute());
  database.notify('workers-changed');
}

/** Renews the heartbeat of the worker, so that no other process declares it dead. */
export function sendHeartbeatsJob(parts: JobContext & { database: Database; worker: Worker }): Job {
  const { database, worker, clock } = parts;
  return defineJob(parts, {
    name: 'send-heartbeats',
    intervalMs: HEARTBEAT_INTERVAL_MS,
    async handle() {
      await database.transact((tx) => writeHeartbeat(tx, worker, clock.now()), { durable: false });
    },
  });
}

interface LivingWorker {
  id: string;
  capacity: Capacity;
}

/** The workers that are alive. */
export async function activeWorkers(db: Reader, now: number): Promise<LivingWorker[]> {
  return (await selectLiving(db, { since: now - LEASE_DURATION_MS })).map(capacityOf);
}

/** The same, locked: two transactions that ask wait for each other, so that only one of them can take the last free slot. */
export async function lockLivingWorkers(tx: Writer, now: number): Promise<LivingWorker[]> {
  return (await lockLiving(tx, { since: now - LEASE_DURATION_MS })).map(capacityOf);
}

/** The stored key is `own`, because workers of an earlier version read and write the same rows during an upgrade. */
function formatCapacity({ shared, perClass }: Capacity): string {
  return JSON.stringify({ shared, own: perClass });
}

function parseCapacity(text: string): Capacity {
  const { shared, own } = JSON.parse(text) as { shared: number; own: Capacity['perClass'] };
  return { shared, perClass: own };
}

const capacityOf = (row: { id: string; capacity: string }): LivingWorker => ({
  id: row.id,
  capacity: parseCapacity(row.capacity),
});

const living = (db: Reader, { since }: { since: number }) =>
  db.selectFrom('workers').select(['id', 'capacity']).where('heartbeat_at', '>', since).orderBy('id');
const selectLiving = prepareStatement(living);
const lockLiving = prepareStatement((db, values: { since: number }) =>
  locked(db, living(db, values), 'update'),
);

/**
 * Strikes off workers whose heartbeat has stopped: one that is older than a lease and has not changed for as long as two of
 * them take, or one of whatever age that has not changed for longer than a lease. How long is told by what has gone by here,
 * never by a clock that can be set: a machine whose clock is wrong, or that was asleep and has just woken up, is not dead,
 * and one whose clock was ahead when it died is not alive until that time has come.
 */
export class DeadWorkerDetector {
  readonly #database: Database;
  readonly #clock: Clock;
  #suspects = new Map<string, { heartbeat: number; since: number }>();
  #looked = 0;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Removes the dead and answers their ids. */
  async removeDead(): Promise<string[]> {
    const [now, elapsed] = [this.#clock.now(), this.#clock.elapsed()];
    // Whoever has not looked for so long was asleep or stood still itself, and perhaps everybody with it.
    if (elapsed - this.#looked > LEASE_DURATION_MS) this.#suspects.clear();
    this.#looked = elapsed;
    const entered = await this.#database.read.selectFrom('workers').select(['id', 'heartbeat_at']).execute();
    const suspects = new Map<string, { heartbeat: number; since: number }>();
    const dead: string[] = [];
    for (const worker of entered) {
      const known = this.#suspects.get(worker.id);
      const since = known?.heartbeat === worker.heartbeat_at ? known.since : elapsed;
      suspects.set(worker.id, { heartbeat: worker.heartbeat_at, since });
      const isStale = worker.heartbeat_at <= now - LEASE_DURATION_MS;
      const patience = isStale ? HEARTBEAT_TIMEOUT_MS : LEASE_DURATION_MS + HEARTBEAT_TIMEOUT_MS;
      if (elapsed - since >= patience && (await this.#removeIfUnchanged(worker))) dead.push(worker.id);
    }
    this.#suspects = suspects;
    return dead;
  }

  async #removeIfUnchanged(worker: { id: string; heartbeat_at: number }): Promise<boolean> {
    const result = await this.#database.transact((tx) =>
      tx
        .deleteFrom('workers')
        .where('id', '=', worker.id)
        .where('heartbeat_at', '=', worker.heartbeat_at)
        .executeTakeFirst(),
    );
    return result.numDeletedRows === 1n;
  }
}
