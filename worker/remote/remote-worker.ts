/**
 * A worker that reaches its server by HTTPS alone. It keeps one sync open, by which the server gives it runs and tells it about
 * cancels. When its free slots change, it sends another one, which ends the first.
 *
 * Invariants: an attempt is executed once in this process, however often the server sends it. It is named in every sync until
 * its end is stored, so that the server does not send it again. A server that sends it in answer to a sync after its end has
 * lost what it knew, by a power cut. The attempt is then executed again, because no other worker will.
 */
import type { WorkerJob } from '@switchyard/contract/workers/job-schemas.ts';
import {
  type AttemptKey,
  SYNC_WAIT_MS,
  type WorkerInstructions,
  type WorkerRegistration,
  type WorkerSync,
} from '@switchyard/contract/workers/worker-protocol.ts';
import { getErrorMessage } from '@switchyard/runner/process/errors.ts';
import { Executor, type ExecutorParts } from '../execute/executor.ts';
import { formatAttemptKey } from '../execute/job.ts';
import { RefusedError } from './http-client.ts';
import { RemoteAssignment } from './remote-assignment.ts';
import { computeRequestDelayMs, type ServerConnection } from './server-connection.ts';

/** Syncs on their way at once: a new one ends the one before, but perhaps not at once behind several servers. */
const SYNCS_MAX = 4;
/** A wait without instructions becomes half as long when a proxy cuts it off, and not shorter than this. */
const WAIT_MS_MIN = 100;
/** A request that was open for this long and then broke was cut off while it was idle. */
const CUT_OFF_MS = 100;
/**
 * Attempts of this process at the same time, besides one for each slot and sync: those that wait for runs, and those whose end is
 * not stored yet. A server that sends more lies.
 */
const OTHER_ATTEMPTS_MAX = 256;
/** Keys of attempts that are remembered, so that a late response starts none of them again. */
const KEYS_MAX = 10_000;
/**
 * A worker without a free slot waits this long before it opens the next sync. Most short runs end earlier, and then a sync
 * that asks for runs takes its place. Without the wait a run of 15 ms costs three requests instead of two.
 */
const FULL_WORKER_DELAY_MS = 25;
/** A worker that stops waits this long for the ends of its runs to be stored. */
const STOP_TIMEOUT_MS = 30_000;

interface RemoteWorkerParts extends Omit<ExecutorParts, 'onCapacity' | 'onBusyChanged'> {
  server: ServerConnection;
  registration: WorkerRegistration;
  /** The worker ends after this time without a run; null: never. */
  idleMs: number | null;
}

interface KnownAttempt {
  key: AttemptKey;
  state: 'running' | 'waiting' | 'ending';
}

/** Executes runs of one server until it is stopped. */
export class RemoteWorker {
  readonly #parts: RemoteWorkerParts;
  readonly #executor: Executor;
  readonly #attempts = new Map<string, KnownAttempt>();
  /** The number of the last sync before each attempt ended; that of no sync while it is executed. */
  readonly #seen = new Map<string, number>();
  #workerId = '';
  #lastSync = 0;
  #syncsUnderWay = 0;
  #isSyncDue = false;
  #failures = 0;
  #waitMs = SYNC_WAIT_MS;
  /** The wait before the last break. */
  #earlierWaitMs = SYNC_WAIT_MS;
  #isDraining = false;
  #isStopping = false;
  #isRegistering = false;
  #idleSince: number;
  /** Resolved when the worker ends, with the refusal of the server or null. */
  readonly #end = Promise.withResolvers<Error | null>();

  constructor(parts: RemoteWorkerParts) {
    this.#parts = parts;
    this.#idleSince = parts.clock.elapsed();
    this.#executor = new Executor({
      ...parts,
      onCapacity: () => this.#syncSoon(),
      onBusyChanged: () => {},
    });
  }

  /** Registers the worker and executes runs; resolves when it was stopped or idle. Throws when the server refuses it. */
  async run(): Promise<void> {
    await this.#parts.server.checkProtocol();
    await this.#register();
    this.#syncSoon();
    this.#watchIdleness();
    const error = await this.#end.promise;
    if (error) {
      this.#parts.server.stopRetrying();
      await this.#executor.drain();
      throw error;
    }
  }

  /** Cancels the running apps, whose runs the server queues again, and leaves. */
  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    const { server, clock, log } = this.#parts;
    this.#syncSoon();
    const cancelTimer = clock.after(STOP_TIMEOUT_MS, () => server.stopRetrying());
    await this.#executor.drain();
    cancelTimer();
    server.stopRetrying();
    await server
      .leave(this.#workerId)
      .catch((error: unknown) =>
        log.warn({ error: getErrorMessage(error) }, 'The server does not know that this worker ends.'),
      );
    this.#end.resolve(null);
  }

  async #register(): Promise<void> {
    const { server, registration, log } = this.#parts;
    this.#workerId = await server.register(registration);
    log.info({ worker: this.#workerId, server: server.url }, 'Worker registered');
  }

  /** Sends a sync once the present work has ended, so that changes at the same time share one. */
  #syncSoon(): void {
    if (this.#isSyncDue || this.#isRegistering || this.#workerId === '') return;
    if (this.#syncsUnderWay >= SYNCS_MAX) return;
    this.#isSyncDue = true;
    setImmediate(() => {
      this.#isSyncDue = false;
      void this.#sync();
    });
  }

  async #sync(): Promise<void> {
    const { server, log } = this.#parts;
    const workerId = this.#workerId;
    this.#lastSync += 1;
    const turn = this.#lastSync;
    this.#syncsUnderWay += 1;
    let delayMs: number | null = null;
    const startedAt = this.#parts.clock.elapsed();
    try {
      this.#apply(await server.sync(workerId, this.#readState()), workerId, turn);
      this.#failures = 0;
      // Slowly, because each attempt at a longer wait may cost a connection.
      this.#waitMs = Math.min(SYNC_WAIT_MS, this.#waitMs + 1);
    } catch (error) {
      const openMs = this.#parts.clock.elapsed() - startedAt;
      const isCutOff = openMs >= CUT_OFF_MS && this.#failures === 0;
      if (this.#failures === 0) this.#earlierWaitMs = this.#waitMs;
      if (isCutOff) this.#waitMs = Math.max(WAIT_MS_MIN, Math.floor(Math.min(openMs, this.#waitMs) / 2));
      // Nobody answers the next request either: the server was gone, and no proxy had cut off the wait.
      else this.#waitMs = this.#earlierWaitMs;
      this.#failures += 1;
      delayMs = computeRequestDelayMs(this.#failures);
      const isRefused = error instanceof RefusedError;
      if (isRefused && error.status === 404) await this.#registerAgain(workerId);
      else if (isRefused) this.#end.resolve(error);
      else
        log.warn({ failures: this.#failures, delayMs, error: getErrorMessage(error) }, 'Server not reached.');
    } finally {
      this.#syncsUnderWay -= 1;
    }
    const next = (): void => {
      // Otherwise a later sync has taken over.
      if (turn === this.#lastSync) this.#syncSoon();
    };
    delayMs ??= this.#isFull() ? FULL_WORKER_DELAY_MS : 0;
    if (delayMs === 0) next();
    else this.#parts.clock.after(delayMs, next);
  }

  /** The server declared this worker dead: its runs are elsewhere. It begins anew, without them. */
  async #registerAgain(workerId: string): Promise<void> {
    if (workerId !== this.#workerId || this.#isStopping || this.#isRegistering) return;
    this.#isRegistering = true;
    this.#parts.log.warn({ worker: workerId }, 'Worker not known to the server any more; registering again.');
    this.#executor.cancel(this.#executor.listApps());
    try {
      await this.#parts.server.checkProtocol();
      await this.#register();
    } catch (error) {
      this.#end.resolve(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#isRegistering = false;
    }
  }

  #isFull(): boolean {
    return this.#executor.freeSlots.length === 0;
  }

  #readState(): WorkerSync {
    const isIdle = this.#isStopping || this.#isDraining;
    return {
      attempts: [...this.#attempts.values()].map(({ key, state }) => ({ ...key, state })),
      free: isIdle
        ? []
        : this.#executor.freeSlots.map(({ classes, slots }) => ({ execution_classes: [...classes], slots })),
      workflow_capacity: [...this.#executor.workflowCapacity],
      draining: this.#isDraining,
      stopping: this.#isStopping,
      wait_ms: this.#waitMs,
    };
  }

  #apply(
    { jobs, canceled, slots_released, draining }: WorkerInstructions,
    workerId: string,
    turn: number,
  ): void {
    if (draining !== this.#isDraining)
      this.#parts.log.info({ draining }, draining ? 'Worker drained' : 'Drain of the worker ended');
    this.#isDraining = draining;
    for (const job of jobs) this.#start(job, workerId, turn);
    for (const key of canceled) this.#change(key, 'ending');
    this.#executor.cancel(canceled.map(formatKey));
    for (const key of slots_released) this.#change(key, 'waiting');
    this.#executor.releaseSlots(slots_released.map(formatKey));
  }

  #change(key: AttemptKey, state: KnownAttempt['state']): void {
    const attempt = this.#attempts.get(formatKey(key));
    if (attempt) attempt.state = state;
  }

  /** `turn` is the number of the sync whose response has the job. */
  #start(job: WorkerJob, workerId: string, turn: number): void {
    const key = formatKey(job);
    if (turn <= (this.#seen.get(key) ?? 0) || workerId !== this.#workerId) return;
    const { server, log, slots } = this.#parts;
    const slotCount = slots.pools.reduce((sum, pool) => sum + pool.slots, 0);
    if (this.#attempts.size >= SYNCS_MAX * slotCount + OTHER_ATTEMPTS_MAX) {
      log.error({ run: job.run_id, attempts: this.#attempts.size }, 'Job refused: the worker is full.');
      return;
    }
    this.#remember(key);
    this.#attempts.set(key, { key: { run_id: job.run_id, fence: job.fence }, state: 'running' });
    this.#executor.start(
      new RemoteAssignment(job, {
        ...{ workerId, server, log },
        onEnding: () => this.#change(job, 'ending'),
        onFinished: () => {
          this.#attempts.delete(key);
          if (this.#seen.has(key)) this.#seen.set(key, this.#lastSync);
          this.#idleSince = this.#parts.clock.elapsed();
        },
      }),
    );
  }

  #remember(key: string): void {
    this.#seen.set(key, Number.POSITIVE_INFINITY);
    if (this.#seen.size <= KEYS_MAX) return;
    const [oldest = ''] = this.#seen.keys();
    this.#seen.delete(oldest);
  }

  #watchIdleness(): void {
    const { idleMs, clock, log } = this.#parts;
    if (idleMs === null) return;
    const check = (): void => {
      if (this.#isStopping) return;
      const idle = this.#attempts.size > 0 ? 0 : clock.elapsed() - this.#idleSince;
      if (idle < idleMs) {
        clock.after(Math.min(idleMs - idle, 1000), check);
        return;
      }
      log.info({ seconds: Math.round(idle / 1000) }, 'No run for the idle time; the worker ends.');
      void this.stop();
    };
    check();
  }
}

const formatKey = ({ run_id, fence }: AttemptKey): string => formatAttemptKey({ id: run_id, fence });
