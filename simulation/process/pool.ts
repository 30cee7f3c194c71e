/** Processes that simulate plans, several at a time. */
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { DatabaseKind, Plan } from '../load/plan.ts';
import type { SimulationReport, SimulationRequest, SourcePatch } from './messages.ts';

/** A process that has simulated this often is replaced: old worlds leave memory behind. */
const SIMULATIONS_MAX = 60;

interface Waiting {
  request: SimulationRequest;
  resolve(report: SimulationReport): void;
  reject(error: Error): void;
}

interface PoolSettings {
  processes?: number;
  patches?: readonly SourcePatch[];
  database?: DatabaseKind;
}

/** Runs plans in processes of their own. */
export class SimulatorPool {
  readonly #patches: readonly SourcePatch[];
  readonly #database: DatabaseKind;
  readonly size: number;
  readonly #waiting: Waiting[] = [];
  readonly #children = new Set<ChildProcess>();
  /** Each begins the next plan on a process that has none. */
  readonly #idle = new Set<() => void>();
  #isClosed = false;

  constructor({ processes = availableParallelism(), patches = [], database = 'sqlite' }: PoolSettings = {}) {
    this.#database = database;
    this.size = processes;
    this.#patches = patches;
  }

  /** Simulates the plan in the next free process. */
  run(plan: Plan, { keepsTrace = false } = {}): Promise<SimulationReport> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request: { plan, keepsTrace }, resolve, reject });
      const [begin] = this.#idle;
      if (begin) begin();
      else if (this.#children.size < this.size && !this.#isClosed) this.#startChild();
    });
  }

  /** Forgets the plans that no process has begun. */
  dropWaiting(): void {
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('The simulation was not needed.'));
  }

  #startChild(): void {
    const child = fork(
      join(import.meta.dirname, 'child.ts'),
      [JSON.stringify(this.#patches), this.#database],
      {
        // One thread of Node's pool ends its work in the order in which it was given.
        env: {
          ...process.env,
          UV_THREADPOOL_SIZE: '1',
          NODE_COMPILE_CACHE: join(import.meta.dirname, '..', '..', '.cache', 'compiled'),
        },
        // Much of what a simulation creates is garbage a moment later.
        execArgv: ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=64'],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      },
    );
    this.#children.add(child);
    let current: Waiting | undefined;
    let simulations = 0;
    const begin = (): void => {
      this.#idle.delete(begin);
      current = this.#waiting.shift();
      simulations += 1;
      if (current) child.send(current.request);
    };
    const next = (): void => {
      current = undefined;
      if (simulations === SIMULATIONS_MAX) child.kill();
      else if (this.#waiting.length > 0) begin();
      else this.#idle.add(begin);
    };
    child.on('message', (message: { report?: SimulationReport; error?: string }) => {
      if (message.report) current?.resolve(message.report);
      else if (message.error !== undefined) current?.reject(new Error(message.error));
      next();
    });
    child.on('exit', (code, signal) => {
      this.#children.delete(child);
      this.#idle.delete(begin);
      current?.reject(new Error(`The process of the simulation ended with ${signal ?? code}.`));
      if (this.#waiting.length > 0 && !this.#isClosed) this.#startChild();
    });
  }

  /** Ends all processes. */
  close(): void {
    this.#isClosed = true;
    this.dropWaiting();
    for (const child of this.#children) child.kill();
  }
}
