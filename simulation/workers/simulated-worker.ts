/** A remote worker: the code of the real one, on a simulated process, network and runner. */
import { join } from 'node:path';
import { API_VERSION } from '@switchyard/contract/limits.ts';
import { SlotTracker } from '@switchyard/worker/execute/slots.ts';
import { RemoteWorker } from '@switchyard/worker/remote/remote-worker.ts';
import { ServerConnection } from '@switchyard/worker/remote/server-connection.ts';
import type { Draws } from '../kernel/draws.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import { SimulatedProcess } from '../kernel/simulated-process.ts';
import type { Network } from '../network/network.ts';
import { createWorkerRequests } from '../network/worker-requests.ts';
import { type AppStart, createSimulatedRunner } from './simulated-runner.ts';

/** A service manager starts a worker again after this time. */
const RESTART_MS = 2000;

/** The properties of a worker that its restarts keep. */
export interface WorkerSettings {
  name: string;
  token: string;
  /** The index of the only account whose runs it gets; null: runs of all. */
  account: number | null;
  slots: number;
  resources: { cores: number; memoryBytes: number } | null;
  labels: string[];
  /** The job of a cluster that starts it: the worker ends by itself when it is idle, and nobody starts it again. */
  job?: { id: string; idleMs: number };
}

interface Parts {
  scheduler: Scheduler;
  draws: Draws;
  network: Network;
  /** A folder in memory. */
  folder: string;
  onApp(event: 'start' | 'end', app: AppStart): void;
  /** The worker of a job has ended. */
  onEnd?(): void;
}

/** A worker across all its processes. */
export class SimulatedWorker {
  readonly #settings: WorkerSettings;
  readonly #parts: Parts;
  #process: SimulatedProcess | null = null;
  #worker: RemoteWorker | null = null;
  #starts = 0;
  #isWanted = true;
  #clockOffset = 0;

  constructor(settings: WorkerSettings, parts: Parts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  get name(): string {
    return this.#settings.name;
  }

  start(): void {
    const { scheduler, draws, network, folder, onApp } = this.#parts;
    const { name, token, slots, resources, labels, job } = this.#settings;
    this.#starts += 1;
    this.#isWanted = true;
    const owner = new SimulatedProcess(`${name}.${this.#starts}`, scheduler);
    owner.moveClock(this.#clockOffset);
    this.#process = owner;
    const capacity = { shared: slots, perClass: {} };
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const sender = { name, deliver: (run: () => void) => owner.deliver(run) };
    const runner = createSimulatedRunner({ owner, draws, onApp, folder: join(folder, owner.name) });
    const worker = new RemoteWorker({
      ...{ runner, clock: owner.clock, log, resources, slots: new SlotTracker(capacity) },
      apiProxy: { open: () => Promise.reject(new Error('Simulated apps have no access to the API.')) },
      ...{ folderId: `folder-of-${name}`, idleMs: job?.idleMs ?? null },
      server: new ServerConnection({
        http: createWorkerRequests(network, sender, token),
        ...{ clock: owner.clock, log },
      }),
      registration: {
        ...{
          version: API_VERSION,
          host: name,
          folder_id: `folder-of-${name}`,
          containment: 'limits',
          labels,
        },
        slots: { shared: slots, per_class: {} },
        resources: resources && { cores: resources.cores, memory_bytes: resources.memoryBytes },
        ...{ scratch_bytes: null, job_id: job?.id ?? null },
      },
    });
    this.#worker = worker;
    worker.run().then(
      () => this.#ended(owner),
      (error: unknown) => {
        scheduler.note(`${owner.name} was refused: ${String(error)}`);
        this.#ended(owner);
      },
    );
  }

  #ended(owner: SimulatedProcess): void {
    if (!owner.isAlive || owner !== this.#process) return;
    this.#end(owner);
  }

  #end(owner: SimulatedProcess): void {
    owner.kill();
    this.#process = null;
    this.#worker = null;
    if (this.#settings.job) this.#parts.onEnd?.();
    else if (this.#isWanted)
      this.#parts.scheduler.after(RESTART_MS, '', () => this.#isWanted && this.start());
  }

  /** Ends the process and its apps at once. */
  crash(): void {
    if (this.#process) this.#end(this.#process);
  }

  /** Lets the process end its apps and leave. */
  stop(): void {
    void this.#worker?.stop();
  }

  pause(): void {
    this.#process?.pause();
  }

  continue(): void {
    this.#process?.continue();
  }

  /** Sets the clock of the machine ahead, or back. */
  moveClock(byMs: number): void {
    this.#clockOffset += byMs;
    this.#process?.moveClock(byMs);
  }
}
