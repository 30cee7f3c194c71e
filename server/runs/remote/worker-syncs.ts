/**
 * The waiting syncs of remote workers. The response comes at once when there are instructions,
 * otherwise when a notification brings some, and without any after a few seconds.
 *
 * Invariants: a notification of queued runs leads to claims one after the other, and to no further one once the queue has
 * nothing for workers with the same offer. So hundreds of idle workers cost one statement, not one each. An attempt that a
 * worker does not know although it holds the lease is sent again, because its response was lost. Until then it takes a slot:
 * the syncs of a worker overlap, and each names the slots that were free when it was sent.
 */
import { SYNC_JOBS_MAX } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { WorkerJob } from '@switchyard/contract/workers/job-schemas.ts';
import type {
  AttemptKey,
  WorkerInstructions,
  WorkerSync,
} from '@switchyard/contract/workers/worker-protocol.ts';
import { formatAttemptKey } from '@switchyard/worker/execute/job.ts';
import type { Topic } from '../../platform/database/database.ts';
import { errorMessage } from '../../platform/log.ts';
import { claimForWorker } from '../execute/claim-for-worker.ts';
import { listLeasedRuns } from '../store/leases.ts';
import type { RunsTable } from '../store/schema.ts';
import { type RemoteWorker, storeHeartbeat } from '../workers/remote-workers.ts';
import { listRunsOfWorker } from './attempts.ts';
import { describeRemoteJob, type RemoteJobParts } from './remote-jobs.ts';

/** The queue is read this often without a notification: a retry may be due. */
const TICK_MS = 1000;
/** A response on its way counts as lost after this time. */
const REDELIVERY_MS = 10_000;

/** A sync that waits for instructions. */
interface Waiting {
  worker: RemoteWorker;
  request: WorkerSync;
  /** Ends the wait; returns false if it has ended already. */
  resolve(wakeUp: WakeUp): boolean;
}

/** The end of a wait. */
interface WakeUp {
  /** The jobs that a claim has found. */
  jobs: WorkerJob[];
  /** True: the database may have other instructions for the worker. */
  isChanged: boolean;
}

const NOTHING: WakeUp = { jobs: [], isChanged: false };

const formatKey = ({ run_id, fence }: AttemptKey): string => formatAttemptKey({ id: run_id, fence });
const copyKey = ({ run_id, fence }: AttemptKey): AttemptKey => ({ run_id, fence });

/** Answers the syncs that arrive at this process. */
export class WorkerSyncs {
  readonly #parts: RemoteJobParts;
  readonly #waiting = new Map<string, Waiting>();
  /** The times at which attempts were sent, by worker and attempt. */
  readonly #sent = new Map<string, Map<string, number>>();
  #endListening: (() => void)[] = [];
  #round: Promise<void> = Promise.resolve();
  #isRoundDue = false;
  #cancelTick: (() => void) | null = null;
  #isClosed = false;

  constructor(parts: RemoteJobParts) {
    this.#parts = parts;
  }

  /** Ends every wait without instructions. Call it before the server stops to accept requests. */
  close(): void {
    this.#isClosed = true;
    this.#cancelTick?.();
    for (const end of this.#endListening) end();
    for (const waiting of [...this.#waiting.values()]) waiting.resolve(NOTHING);
  }

  /**
   * Returns the instructions for a worker. `find` throws a 404 when the worker is not registered any more. `onDisconnect` calls back
   * when nobody reads the response any more.
   */
  async sync(
    find: () => Promise<RemoteWorker>,
    request: WorkerSync,
    onDisconnect: (callback: () => void) => () => void,
  ): Promise<WorkerInstructions> {
    const { database, clock } = this.#parts;
    const worker = await find();
    // The request replaces the earlier one, whose state of the worker is older.
    this.#waiting.get(worker.id)?.resolve(NOTHING);
    await storeHeartbeat(database, worker, clock.now());
    const connection = { isOpen: true };
    const end = onDisconnect(() => {
      connection.isOpen = false;
      const waiting = this.#waiting.get(worker.id);
      if (waiting?.request === request) waiting.resolve(NOTHING);
    });
    const instructions = await this.#findInstructions(worker, request, find).finally(end);
    if (!connection.isOpen) this.#deleteSent(worker, instructions.jobs);
    return instructions;
  }

  async #findInstructions(
    worker: RemoteWorker,
    request: WorkerSync,
    find: () => Promise<RemoteWorker>,
  ): Promise<WorkerInstructions> {
    const instructions = await this.#readInstructions(worker, request);
    if (hasInstructions(instructions, request)) return instructions;
    const jobs = await this.#claim(worker, request);
    if (jobs.length > 0 || this.#isClosed) return { ...instructions, jobs };
    const wakeUp = await this.#wait(worker, request);
    if (!wakeUp.isChanged) return { ...instructions, jobs: wakeUp.jobs };
    return this.#readInstructions(await find(), request);
  }

  #wait(worker: RemoteWorker, request: WorkerSync): Promise<WakeUp> {
    this.#listen();
    return new Promise((resolve) => {
      let isOpen = true;
      const end = this.#parts.clock.after(request.wait_ms, () => waiting.resolve(NOTHING));
      const waiting: Waiting = {
        ...{ worker, request },
        resolve: (wakeUp) => {
          end();
          if (this.#waiting.get(worker.id) === waiting) this.#waiting.delete(worker.id);
          resolve(wakeUp);
          const wasOpen = isOpen;
          isOpen = false;
          return wasOpen;
        },
      };
      this.#waiting.set(worker.id, waiting);
    });
  }

  /** Listens from the first wait on: a server without remote workers wakes for none. */
  #listen(): void {
    if (this.#endListening.length > 0) return;
    const { database } = this.#parts;
    const listen = (topic: Topic, wake: () => void): void => {
      this.#endListening.push(database.listen(topic, wake));
    };
    listen('runs-queued', () => this.#startRound());
    for (const topic of ['runs-canceled', 'slots-released', 'workers-changed'] as const)
      listen(topic, () => this.#resolveAffected(topic));
    this.#tick();
  }

  #tick(): void {
    this.#cancelTick = this.#parts.clock.after(TICK_MS, () => {
      if (this.#waiting.size > 0) this.#startRound();
      this.#tick();
    });
  }

  /** Lets the workers read their instructions. A worker without attempts reads them only after a change of workers. */
  #resolveAffected(topic: Topic): void {
    for (const waiting of [...this.#waiting.values()])
      if (topic === 'workers-changed' || waiting.request.attempts.length > 0)
        waiting.resolve({ jobs: [], isChanged: true });
  }

  /** Claims for the waiting workers, once at a time. */
  #startRound(): void {
    if (this.#isRoundDue || this.#isClosed) return;
    this.#isRoundDue = true;
    this.#round = this.#round
      .then(() => {
        this.#isRoundDue = false;
        return this.#claimForWaiting();
      })
      .catch((error: unknown) =>
        this.#parts.log.warn({ error: errorMessage(error) }, 'Claims for remote workers failed.'),
      );
  }

  async #claimForWaiting(): Promise<void> {
    const exhausted = new Set<string>();
    for (const waiting of [...this.#waiting.values()]) {
      const { worker, request } = waiting;
      const signature = JSON.stringify([worker.offer, request.free.map((pool) => pool.execution_classes)]);
      if (exhausted.has(signature) || this.#waiting.get(worker.id) !== waiting) continue;
      const jobs = await this.#claim(worker, request);
      if (jobs.length > 0) this.#deliver(waiting, jobs);
      // A worker with resources may be too full for runs that another one can take.
      else if (worker.offer.resources === null && request.free.length > 0) exhausted.add(signature);
    }
  }

  /** Sends the jobs to the worker. If its wait ended during the claim, the sync after it sends them. */
  #deliver({ worker, resolve }: Waiting, jobs: WorkerJob[]): void {
    if (resolve({ jobs, isChanged: false })) return;
    this.#deleteSent(worker, jobs);
    this.#waiting.get(worker.id)?.resolve({ jobs: [], isChanged: true });
  }

  /** Lets the next sync of the worker send the jobs at once. */
  #deleteSent(worker: RemoteWorker, jobs: readonly WorkerJob[]): void {
    for (const job of jobs) this.#sent.get(worker.id)?.delete(formatKey(job));
  }

  /** Claims runs for the free slots of the worker. */
  async #claim(worker: RemoteWorker, request: WorkerSync): Promise<WorkerJob[]> {
    if (worker.isDraining || request.stopping) return [];
    const { database, clock } = this.#parts;
    const known = new Set(request.attempts.map(formatKey));
    const runs: RunsTable[] = [];
    for (const { execution_classes, slots } of request.free) {
      const limit = Math.min(slots, SYNC_JOBS_MAX - runs.length);
      if (limit <= 0 || execution_classes.length === 0) continue;
      const claim = {
        ...{ workerId: worker.id, classes: execution_classes, limit, now: clock.now(), known },
        workflowCapacity: request.workflow_capacity,
        containment: worker.containment,
        offer: worker.offer,
      };
      const claimed = await claimForWorker(database, claim);
      for (const run of claimed) known.add(formatAttemptKey(run));
      runs.push(...claimed);
    }
    return this.#describe(worker, runs);
  }

  async #describe(worker: RemoteWorker, runs: readonly RunsTable[]): Promise<WorkerJob[]> {
    const jobs = await Promise.all(runs.map((run) => describeRemoteJob(this.#parts, run)));
    const now = this.#parts.clock.elapsed();
    const sent = this.#sent.get(worker.id) ?? new Map<string, number>();
    for (const [key, at] of sent) if (now - at > REDELIVERY_MS) sent.delete(key);
    for (const run of runs) sent.set(formatAttemptKey(run), now);
    if (runs.length > 0) this.#sent.set(worker.id, sent);
    return jobs.filter((job) => job !== null);
  }

  /** Reads the instructions in the database. */
  async #readInstructions(worker: RemoteWorker, { attempts }: WorkerSync): Promise<WorkerInstructions> {
    const { database } = this.#parts;
    const instructions = { jobs: [], canceled: [], slots_released: [], draining: worker.isDraining };
    const leased = await listLeasedRuns(database.read, worker.id);
    if (leased.length === 0 && attempts.length === 0) {
      this.#sent.delete(worker.id);
      return instructions;
    }
    const active = new Set(leased.filter((run) => run.cancel_requested_at === null).map(formatAttemptKey));
    const known = new Set(attempts.map(formatKey));
    const running = new Set(attempts.filter(({ state }) => state === 'running').map(formatKey));
    const lost = leased.filter((run) => !known.has(formatAttemptKey(run)) && this.#isLost(worker, run));
    const again = await listRunsOfWorker(
      database.read,
      worker.id,
      lost.slice(0, SYNC_JOBS_MAX).map(({ id }) => id),
    );
    return {
      ...instructions,
      jobs: await this.#describe(worker, again),
      canceled: attempts.filter((one) => one.state !== 'ending' && !active.has(formatKey(one))).map(copyKey),
      slots_released: leased
        .filter((run) => run.slot_released_at !== null && running.has(formatAttemptKey(run)))
        .map(({ id, fence }) => ({ run_id: id, fence })),
    };
  }

  #isLost(worker: RemoteWorker, run: { id: RunId; fence: number }): boolean {
    const sentAt = this.#sent.get(worker.id)?.get(formatAttemptKey(run));
    return sentAt === undefined || this.#parts.clock.elapsed() - sentAt > REDELIVERY_MS;
  }
}

function hasInstructions(instructions: WorkerInstructions, request: WorkerSync): boolean {
  const { jobs, canceled, slots_released, draining } = instructions;
  return jobs.length + canceled.length + slots_released.length > 0 || draining !== request.draining;
}
