/** Starts the worker of this process: registers it, sends its heartbeats, and removes it on shutdown. */
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { API_VERSION } from '@switchyard/contract/limits.ts';
import type { Runner } from '@switchyard/runner';
import { ApiProxy } from '@switchyard/worker/access/api-proxy.ts';
import type { ApiTarget } from '@switchyard/worker/access/protocol.ts';
import { Executor } from '@switchyard/worker/execute/executor.ts';
import { type Assignment, type ContentName, formatAttemptKey } from '@switchyard/worker/execute/job.ts';
import { SlotTracker } from '@switchyard/worker/execute/slots.ts';
import type { JsonReader } from '@switchyard/worker/results/json-reader.ts';
import type { Contents } from '../../platform/blobs/contents.ts';
import type { Config } from '../../platform/config.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Encryptor } from '../../platform/database/encryption.ts';
import type { Metrics } from '../../platform/http/metrics.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { errorMessage } from '../../platform/log.ts';
import { makeId, type Random } from '../../platform/random.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import type { RunTokens } from '../access/run-tokens.ts';
import { writeLogBatch } from '../logs/log-batches.ts';
import { requeueUnstarted } from '../queue/requeue.ts';
import { listLeasedRuns } from '../store/leases.ts';
import type { RunsTable } from '../store/schema.ts';
import type { WorkerOffer } from '../workers/offers.ts';
import {
  deregisterWorker,
  markWorkerDraining,
  registerWorker,
  sendHeartbeatsJob,
  type Worker,
} from '../workers/workers.ts';
import { claimForWorker } from './claim-for-worker.ts';
import { ContentOpener, type DescribedJob, describeJob } from './describe-job.ts';
import { finalizeRun } from './finalize.ts';

const CLAIM_INTERVAL_MS = 1000;
const UNTRACKED_CHECK_INTERVAL_MS = 10_000;

interface StartWorkerParts
  extends Omit<
    ConstructorParameters<typeof Dispatcher>[0],
    'runner' | 'slots' | 'workerId' | 'offer' | 'apiProxy'
  > {
  config: Config;
  random: Random;
  closers: (() => Promise<void>)[];
  /** Resolves with the server as the apps of this worker reach it, once it listens; null without an address. */
  api: Promise<ApiTarget | null>;
}

/** Registers this process as a worker and starts to claim runs; `closers` receives the steps of the shutdown. */
export async function startWorker(runner: Runner, parts: StartWorkerParts): Promise<void> {
  const { config, database, clock, log, random, closers } = parts;
  const worker: Worker = {
    id: makeId<string>(random, 'worker'),
    folderId: parts.folderId,
    capacity: config.capacity,
    host: hostname(),
    version: API_VERSION,
    startedAt: clock.now(),
    kind: 'process',
    offer: { labels: config.labels, resources: config.resources, scope: null },
    scratchBytes: config.resources?.scratchBytes ?? null,
    tokenId: null,
    jobId: null,
    containment: runner.host.containment,
  };
  await registerWorker(database, worker, worker.startedAt);
  closers.push(() => deregisterWorker(database, worker.id));
  const heartbeats = sendHeartbeatsJob({ ...parts, worker });
  heartbeats.start();
  closers.push(() => heartbeats.stop());
  const socketsFolder = join(config.data, 'api-sockets');
  // A process that was killed leaves its sockets.
  await rm(socketsFolder, { recursive: true, force: true });
  const apiProxy = new ApiProxy({ api: parts.api, socketsFolder, log });
  closers.push(() => apiProxy.close());
  const dispatcher = new Dispatcher({
    ...parts,
    apiProxy,
    runner,
    slots: new SlotTracker(config.capacity),
    workerId: worker.id,
    offer: worker.offer,
  });
  dispatcher.start();
  closers.push(() => dispatcher.drain());
  closers.push(() =>
    markWorkerDraining(database, worker.id).catch((error: unknown) =>
      log.warn({ error: errorMessage(error) }, 'Other servers could not be notified that this worker stops.'),
    ),
  );
}

interface DispatchParts extends JobContext {
  database: Database;
  contents: Contents;
  seal: Encryptor;
  runner: Runner;
  slots: SlotTracker;
  workerId: string;
  offer: WorkerOffer;
  /** Identifies the data folder of the worker, also after a restart. */
  folderId: string;
  random: Random;
  jsonReader: JsonReader;
  metrics: Metrics;
  tracing: Tracing | null;
  runTokens: RunTokens;
  /** By which apps reach the API. */
  apiProxy: ApiProxy;
}

/**
 * Executes the runs of one worker, from the claim to the stored result.
 *
 * Invariants: a run is executed only with a fencing token from a claim, and its end is written only with that token. A run
 * that this process cannot finish is requeued: by this process on shutdown, otherwise by the server that detects the dead
 * worker.
 */
class Dispatcher {
  readonly #parts: DispatchParts;
  readonly #executor: Executor;
  readonly #claims: Job;
  readonly #slotReleases: Job;
  readonly #cancels: Job;
  #nextUntrackedCheck = 0;
  #isDraining = false;

  constructor(parts: DispatchParts) {
    this.#parts = parts;
    this.#claims = this.#claimRunsJob();
    this.#cancels = this.#cancelRunsJob();
    this.#slotReleases = this.#releaseSlotsJob();
    this.#executor = new Executor({
      ...parts,
      resources: parts.offer.resources,
      onCapacity: () => this.#claims.wake(),
      onBusyChanged: (count) => parts.metrics.slotsBusy.set(count),
    });
  }

  start(): void {
    this.#claims.start();
    this.#cancels.start();
    this.#slotReleases.start();
  }

  /** Stops claiming, cancels the running apps, and waits until every attempt is finalised or its run requeued. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#claims.stop();
    await this.#cancels.stop();
    await this.#slotReleases.stop();
    await this.#executor.drain();
  }

  /** Claims queued runs for the free slots and executes them. */
  #claimRunsJob(): Job {
    return defineJob(this.#parts, {
      name: 'claim-runs',
      intervalMs: CLAIM_INTERVAL_MS,
      wakeOn: ['runs-queued'],
      handle: async () => {
        const claimed = await this.#claim();
        await this.#requeueUntracked();
        return claimed;
      },
    });
  }

  /** Ends the apps of canceled and deleted runs. */
  #cancelRunsJob(): Job {
    return defineJob(this.#parts, {
      name: 'cancel-runs',
      intervalMs: CLAIM_INTERVAL_MS,
      wakeOn: ['runs-canceled'],
      handle: () => this.#cancel(),
    });
  }

  /** Releases the slots of workflows whose apps have created a run, so that the runs they wait for can start. */
  #releaseSlotsJob(): Job {
    return defineJob(this.#parts, {
      name: 'release-slots',
      intervalMs: CLAIM_INTERVAL_MS,
      wakeOn: ['slots-released'],
      handle: () => this.#releaseSlots(),
    });
  }

  async #releaseSlots(): Promise<undefined> {
    const { database, workerId } = this.#parts;
    if (!this.#executor.hasWorkflowSlots) return;
    const leased = await listLeasedRuns(database.read, workerId);
    const waiting = leased.filter((run) => run.slot_released_at !== null);
    this.#executor.releaseSlots(waiting.map(formatAttemptKey));
  }

  /** Returns the number of claimed runs. */
  async #claim(): Promise<number> {
    const { database, runner, workerId, clock, offer } = this.#parts;
    let count = 0;
    for (const { classes, slots: limit } of this.#executor.freeSlots) {
      if (this.#isDraining) break;
      const claim = {
        ...{ workerId, classes, limit },
        workflowCapacity: this.#executor.workflowCapacity,
        now: clock.now(),
        containment: runner.host.containment,
        offer,
      };
      const claimed = await claimForWorker(database, claim);
      for (const run of claimed) this.#executor.start(this.#assign(run));
      count += claimed.length;
    }
    return count;
  }

  /** Returns the attempt of a claimed run, whose results this process stores itself. */
  #assign(run: RunsTable): Assignment {
    const { database, runTokens, clock } = this.#parts;
    const claimedAt = clock.now();
    let described: DescribedJob | undefined;
    const opener = new ContentOpener();
    const find = (source: ContentName) => {
      const content = described?.[source];
      if (!content) throw new Error(`The ${source} of a run is opened before its job is described.`);
      return opener.open(content, source);
    };
    return {
      run,
      executionClass: run.execution_class,
      workflowDepth: run.api_access === null ? null : run.workflow_depth,
      loadJob: async () => {
        described = await describeJob(run, this.#parts);
        return described.job;
      },
      openExecutable: () => find('executable'),
      openInput: () => find('input'),
      openPrevious: () => find('previous'),
      proveEndpoint: async (endpoint) => runTokens.prove(run, endpoint),
      writeLog: (batch) => writeLogBatch(database, run, batch),
      findDamage: () => opener.damage,
      finish: (end) => finalizeRun(this.#parts, run, { ...end, claimedAt }),
    };
  }

  /**
   * Requeues leased runs without an attempt in this process. A claim can be committed although the database never
   * confirmed it. This worker alone claims for itself and no claim is in progress here, so such a run was never started.
   */
  async #requeueUntracked(): Promise<void> {
    const { database, clock, workerId } = this.#parts;
    if (clock.elapsed() < this.#nextUntrackedCheck) return;
    this.#nextUntrackedCheck = clock.elapsed() + UNTRACKED_CHECK_INTERVAL_MS;
    for (const run of await listLeasedRuns(database.read, workerId))
      if (!this.#executor.hasAttempt(formatAttemptKey(run))) await requeueUnstarted(this.#parts, run);
  }

  /** Cancels the apps of runs with a cancel request, of deleted runs, and of runs whose lease has expired. */
  async #cancel(): Promise<undefined> {
    const before = this.#executor.listApps();
    if (before.length === 0) return;
    const leased = await listLeasedRuns(this.#parts.database.read, this.#parts.workerId);
    const activeKeys = new Set(
      leased.filter((run) => run.cancel_requested_at === null).map(formatAttemptKey),
    );
    this.#executor.cancel(before.filter((key) => !activeKeys.has(key)));
  }
}
