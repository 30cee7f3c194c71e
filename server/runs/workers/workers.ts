/**
 * Registration, heartbeats and death of workers. A worker without a heartbeat for the duration of a lease is dead, and its
 * runs are requeued. A worker that starts in a data folder proves that every earlier worker of the folder is dead, because
 * the folder is locked.
 */
import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import { HEARTBEAT_TIMEOUT_MS, LEASE_DURATION_MS } from '@switchyard/contract/limits.ts';
import type { WorkerKind } from '@switchyard/contract/workers/workers.ts';
import type { Capacity } from '@switchyard/worker/execute/slots.ts';
import type { Selectable } from 'kysely';
import Type from 'typebox';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Reader, Writer } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { locked } from '../../platform/database/row-locks.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { recordLostWorker } from './lost-workers.ts';
import { formatOffer, type WorkerOffer } from './offers.ts';
import { createOfferReader, type OfferReader } from './read-offers.ts';
import { recordRegisteredJob } from './registered-jobs.ts';
import type { WorkersTable } from './schema.ts';

const NO_CAPACITY: Capacity = { shared: 0, perClass: {} };
const HEARTBEAT_INTERVAL_MS = HEARTBEAT_TIMEOUT_MS / 2;

export interface Worker {
  id: string;
  folderId: string;
  capacity: Capacity;
  /** Host name of the machine. */
  host: string;
  /** Release of the worker. */
  version: string;
  startedAt: number;
  kind: WorkerKind;
  offer: WorkerOffer;
  /** Scratch disk of its runs, in bytes; null when it is unknown. */
  scratchBytes: number | null;
  /** The worker token by which it authenticates; null for a process with access to the database. */
  tokenId: string | null;
  /** The job by which the provisioner started it; null for a worker that somebody started. */
  jobId: string | null;
  /** Level of isolation of its runs. */
  containment: 'sandbox' | 'limits';
}

/**
 * Registers the worker and removes the earlier workers of its folder. `check` may refuse it by an error; nothing is changed then.
 */
export async function registerWorker(
  database: Database,
  worker: Worker,
  now: number,
  check: (tx: Writer) => Promise<void> = async () => {},
): Promise<void> {
  await database.transact(async (tx) => {
    await tx.deleteFrom('workers').where('folder_id', '=', worker.folderId).execute();
    await check(tx);
    await writeHeartbeat(tx, worker, now);
    if (worker.jobId !== null) await recordRegisteredJob(tx, worker.jobId, now);
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
      host: worker.host,
      version: worker.version,
      started_at: worker.startedAt,
      draining_at: null,
      ...formatOffer(worker.offer),
      scratch_bytes: worker.scratchBytes,
      kind: worker.kind,
      token_id: worker.tokenId,
      job_id: worker.jobId,
      containment: worker.containment,
    })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ heartbeat_at: now }))
    .execute();
}

/** Sets the capacity of the worker to 0, so that its slots no longer count as free while it ends its runs. */
export async function markWorkerDraining(database: Database, id: string): Promise<void> {
  await database.transact(
    (tx) =>
      tx
        .updateTable('workers')
        .set({ capacity: formatCapacity(NO_CAPACITY) })
        .where('id', '=', id)
        .execute(),
    { durable: false },
  );
}

/** Removes the worker; its remaining runs are requeued. */
export async function deregisterWorker(database: Database, id: string): Promise<void> {
  await database.transact((tx) => tx.deleteFrom('workers').where('id', '=', id).execute());
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

export interface ActiveWorker {
  id: string;
  /** Without slots while the worker drains. */
  capacity: Capacity;
  isDraining: boolean;
  offer: WorkerOffer;
}

/** Lists the workers with a heartbeat within the duration of a lease. */
export async function listActiveWorkers(db: Reader, now: number): Promise<ActiveWorker[]> {
  const since = now - LEASE_DURATION_MS;
  const active = (await selectWorkers(db, {})).filter((row) => row.heartbeat_at > since);
  return parseActiveWorkers(db, active);
}

/** Lists the active workers and locks them: of two such transactions the second waits, so that only one gets the last free slot. */
export async function lockActiveWorkers(tx: Writer, now: number): Promise<ActiveWorker[]> {
  return parseActiveWorkers(tx, await lockActive(tx, { since: now - LEASE_DURATION_MS }));
}

/** Locks the worker, so that its claims follow each other until the transaction ends; returns true if it drains. */
export async function lockWorker(tx: Writer, id: string): Promise<boolean> {
  const query = tx.selectFrom('workers').select('draining_at').where('id', '=', id);
  const row = await locked(tx, query, 'update').executeTakeFirst();
  return row !== undefined && row.draining_at !== null;
}

/** A registered worker with its details. */
export interface WorkerDetails {
  id: string;
  capacity: Capacity;
  heartbeatAt: number;
  host: string;
  version: string;
  startedAt: number;
  drainingAt: number | null;
  kind: WorkerKind;
  offer: WorkerOffer;
  jobId: string | null;
}

/**
 * Lists the registered workers in the order of their start. Dead ones are included until they are removed. `onUnreadable` gets
 * the id of each row that is left out, because it cannot be parsed.
 */
export async function listWorkers(
  db: Reader,
  onUnreadable: (id: string, error: unknown) => void = () => {},
): Promise<WorkerDetails[]> {
  const rows = await db.selectFrom('workers').selectAll().orderBy('started_at').orderBy('id').execute();
  const readOffer = await createOfferReader(db, rows);
  return parseReadable(rows, (row) => parseDetails(row, readOffer), onUnreadable);
}

/** Parses rows. One that cannot be parsed is left out: it would keep runs from all other workers. */
function parseReadable<Row extends { id: string }, Parsed>(
  rows: readonly Row[],
  parse: (row: Row) => Parsed,
  onUnreadable: (id: string, error: unknown) => void = () => {},
): Parsed[] {
  return rows.flatMap((row) => {
    try {
      return [parse(row)];
    } catch (error) {
      onUnreadable(row.id, error);
      return [];
    }
  });
}

/**
 * Drains the worker, or ends that when `drainingAt` is null. Returns the worker; undefined for an unknown one. A worker that
 * is draining already keeps its time.
 */
export async function setDraining(
  tx: Writer,
  id: string,
  drainingAt: number | null,
): Promise<WorkerDetails | undefined> {
  const row = await tx
    .updateTable('workers')
    .set((eb) => ({
      draining_at: drainingAt === null ? null : eb.fn.coalesce('draining_at', eb.val(drainingAt)),
    }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && parseDetails(row, await createOfferReader(tx, [row]));
}

function parseDetails(row: Selectable<WorkersTable>, readOffer: OfferReader): WorkerDetails {
  return {
    id: row.id,
    capacity: parseCapacity(row),
    heartbeatAt: row.heartbeat_at,
    host: row.host,
    version: row.version,
    startedAt: row.started_at,
    drainingAt: row.draining_at,
    kind: row.kind,
    offer: readOffer(row),
    jobId: row.job_id,
  };
}

/** The stored key of `perClass` is `own`: databases of release 0.2.0 have it. */
function formatCapacity({ shared, perClass }: Capacity): string {
  return JSON.stringify({ shared, own: perClass });
}

const parseStoredCapacity = parseColumn(
  'workers',
  'id',
  'capacity',
  Type.Object({
    shared: Type.Number(),
    own: Type.Partial(Type.Record(Type.Enum([...EXECUTION_CLASSES]), Type.Number())),
  }),
);

function parseCapacity(row: { id: string; capacity: string }): Capacity {
  const { shared, own } = parseStoredCapacity(row);
  return { shared, perClass: own };
}

const ACTIVE_COLUMNS = [
  'id',
  'capacity',
  'draining_at',
  'labels',
  'cores',
  'memory_bytes',
  'scope',
  'token_id',
] as const satisfies readonly (keyof WorkersTable)[];

type ActiveRow = Pick<Selectable<WorkersTable>, (typeof ACTIVE_COLUMNS)[number]>;

async function parseActiveWorkers(db: Reader, rows: readonly ActiveRow[]): Promise<ActiveWorker[]> {
  const readOffer = await createOfferReader(db, rows);
  return parseReadable(rows, (row) => {
    const isDraining = row.draining_at !== null;
    return {
      id: row.id,
      capacity: isDraining ? NO_CAPACITY : parseCapacity(row),
      isDraining,
      offer: readOffer(row),
    };
  });
}

/** Selects all workers: without the time in it, the statement is the same for every caller and its rows can be reused. */
const selectWorkers = prepareStatement(
  (db) =>
    db
      .selectFrom('workers')
      .select([...ACTIVE_COLUMNS, 'heartbeat_at'])
      .orderBy('id'),
  { isReusable: true },
);
const lockActive = prepareStatement((db, { since }: { since: number }) =>
  locked(
    db,
    db.selectFrom('workers').select(ACTIVE_COLUMNS).where('heartbeat_at', '>', since).orderBy('id'),
    'update',
  ),
);

/**
 * Detects and removes dead workers. A worker whose heartbeat is older than a lease is dead if the heartbeat has not changed
 * for two heartbeat intervals. A worker with a newer heartbeat is dead if it has not changed for longer than a lease.
 *
 * Changes are timed by the monotonic clock of this process. So a worker with a wrong clock, or on a machine that was
 * suspended, stays active. A worker that died with its clock ahead does not stay active until that time.
 */
export class DeadWorkerDetector {
  readonly #database: Database;
  readonly #clock: Clock;
  #suspects = new Map<string, { heartbeat: number; since: number }>();
  #lastCheck = 0;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Removes the dead workers and returns their ids. */
  async removeDead(): Promise<string[]> {
    const [now, elapsed] = [this.#clock.now(), this.#clock.elapsed()];
    // After such a gap this process was itself suspended, and perhaps every other worker with it.
    if (elapsed - this.#lastCheck > LEASE_DURATION_MS) this.#suspects.clear();
    this.#lastCheck = elapsed;
    const workers = await this.#database.read.selectFrom('workers').select(['id', 'heartbeat_at']).execute();
    const suspects = new Map<string, { heartbeat: number; since: number }>();
    const dead: string[] = [];
    for (const worker of workers) {
      const known = this.#suspects.get(worker.id);
      const since = known?.heartbeat === worker.heartbeat_at ? known.since : elapsed;
      suspects.set(worker.id, { heartbeat: worker.heartbeat_at, since });
      const isStale = worker.heartbeat_at <= now - LEASE_DURATION_MS;
      const timeoutMs = isStale ? HEARTBEAT_TIMEOUT_MS : LEASE_DURATION_MS + HEARTBEAT_TIMEOUT_MS;
      if (elapsed - since >= timeoutMs && (await this.#removeIfUnchanged(worker))) dead.push(worker.id);
    }
    this.#suspects = suspects;
    return dead;
  }

  async #removeIfUnchanged(worker: { id: string; heartbeat_at: number }): Promise<boolean> {
    const lost_at = this.#clock.now();
    return this.#database.transact(async (tx) => {
      const result = await tx
        .deleteFrom('workers')
        .where('id', '=', worker.id)
        .where('heartbeat_at', '=', worker.heartbeat_at)
        .executeTakeFirst();
      if (result.numDeletedRows !== 1n) return false;
      await recordLostWorker(tx, { ...worker, lost_at });
      return true;
    });
  }
}
