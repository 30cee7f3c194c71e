/** The runner of a simulated worker: apps are functions that take simulated time and end in every way that the real one knows. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { EndedRun, Host, Observer, Outcome, Runner, RunningApp, RunSpec } from '@switchyard/runner';
import type { Draws } from '../kernel/draws.ts';
import type { SimulatedProcess } from '../kernel/simulated-process.ts';
import { type AppInput, type AppResult, endApp } from './app-behavior.ts';

const GRACE_MS_MAX = 5000;
/** A host gets over its fault; otherwise an app that always meets one would never end. */
const HOST_FAULT_SHARE = 0.5;

const HOST: Host = {
  platform: 'linux',
  architecture: 'x64',
  cores: 16,
  memoryBytes: 64 * 1024 ** 3,
  containment: 'limits',
  containmentReason: '',
  enforcement: { memory: '', cores: '', processes: '', disk: '', tree: '' },
  notHeld: [],
  runtimes: { node: { path: 'node', version: '26.10.0' } },
  missingRuntimes: {},
};

/** An attempt as the runner sees it. */
export interface AppStart {
  /** Run id and fencing token. */
  key: string;
  worker: string;
}

interface RunnerParts {
  owner: SimulatedProcess;
  draws: Draws;
  /** A folder in memory for results. */
  folder: string;
  /** An app begins to run on this worker, or ends. */
  onApp(event: 'start' | 'end', app: AppStart): void;
}

/** Returns a runner for a process. */
export function createSimulatedRunner(parts: RunnerParts): Runner {
  const { folder } = parts;
  mkdirSync(folder, { recursive: true });
  const executables = new Set<string>();
  return {
    host: HOST,
    hasDiskSpace: () => true,
    run(spec, observer) {
      const app = new SimulatedApp(spec, parts, observer);
      app.start(executables);
      return app;
    },
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

class SimulatedApp implements RunningApp {
  readonly #spec: RunSpec;
  readonly #parts: RunnerParts;
  readonly #observer: Observer;
  readonly #end = Promise.withResolvers<Outcome>();
  readonly #startedAt: number;
  #isCanceled = false;
  #hasEnded = false;
  #isRunning = false;

  constructor(spec: RunSpec, parts: RunnerParts, observer: Observer) {
    this.#spec = spec;
    this.#parts = parts;
    this.#observer = observer;
    this.#startedAt = parts.owner.clock.now();
  }

  get done(): Promise<Outcome> {
    return this.#end.promise;
  }

  start(executables: Set<string>): void {
    this.#prepare(executables).then(
      (input) => this.#run(input),
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        this.#finish({
          ...{ succeeded: false, reason: 'host', error: message, stdout: '' },
          ...{ exitCode: null, signal: null, isHostFault: true },
        });
      },
    );
  }

  async #prepare(executables: Set<string>): Promise<AppInput> {
    const { executable, input } = this.#spec;
    if (!executables.has(executable.hash)) {
      await buffer(await executable.open());
      executables.add(executable.hash);
    }
    return JSON.parse((await buffer(await input.open())).toString()) as AppInput;
  }

  #run(input: AppInput): void {
    const { owner, draws, onApp } = this.#parts;
    if (this.#isCanceled) return this.#finish(CANCELED);
    this.#isRunning = true;
    onApp('start', { key: this.#spec.key, worker: owner.name });
    this.#observer.onStart({ pid: 1, at: owner.clock.now() });
    this.#observer.onLog([{ at: owner.clock.now(), stream: 'stderr', text: `run ${input.n}` }]);
    const { durationMs } = this.#spec.limits;
    const isEndless = input.end === 'endless' || input.ms > durationMs;
    owner.after(isEndless ? durationMs : input.ms, '', () => {
      const isHostFault = input.end === 'host' || input.end === 'host-memory';
      const end = isHostFault && !draws.happens(HOST_FAULT_SHARE) ? 'success' : input.end;
      this.#finish(isEndless ? describeTimeout(durationMs) : endApp({ ...input, end }));
    });
  }

  cancel(): void {
    if (this.#isCanceled) return;
    this.#isCanceled = true;
    const { owner, draws } = this.#parts;
    if (this.#isRunning) owner.after(draws.between(0, GRACE_MS_MAX), '', () => this.#finish(CANCELED));
  }

  #finish(result: AppResult): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { owner, onApp } = this.#parts;
    const now = owner.clock.now();
    if (this.#isRunning) onApp('end', { key: this.#spec.key, worker: owner.name });
    const { stdout, isHostFault, ...rest } = result;
    const outcome: EndedRun = {
      kind: 'ended',
      ...rest,
      ...(isHostFault ? { hostFault: true } : {}),
      stdout: this.#write('stdout', stdout),
      stderr: this.#write('stderr', ''),
      startedAt: this.#startedAt,
      endedAt: now,
      executionMs: this.#isRunning ? Math.max(0, now - this.#startedAt) : 0,
      containment: 'limits',
      isLogTruncated: false,
    };
    this.#end.resolve(outcome);
  }

  #write(name: string, content: string): { path: string; bytes: number } {
    const path = join(this.#parts.folder, `${this.#spec.key}-${name}`);
    writeFileSync(path, content);
    return { path, bytes: Buffer.byteLength(content) };
  }

  async dispose(): Promise<void> {
    for (const name of ['stdout', 'stderr'])
      rmSync(join(this.#parts.folder, `${this.#spec.key}-${name}`), { force: true });
  }
}

const CANCELED: AppResult = {
  ...{ succeeded: false, reason: 'canceled', error: 'The run was canceled.', stdout: '' },
  ...{ exitCode: null, signal: 'SIGTERM', isHostFault: false },
};

function describeTimeout(durationMs: number): AppResult {
  const error = `The app ran longer than ${durationMs / 1000} s.`;
  return {
    ...{ succeeded: false, reason: 'duration', error, stdout: '' },
    ...{ exitCode: null, signal: 'SIGKILL', isHostFault: false },
  };
}
