/** The remote workers of a cluster: processes that reach its servers by HTTP alone, through a network that can be cut. */
import { join } from 'node:path';
import type { MemoryGroup } from '../../server/testing/host/memory-group.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import type { RequestTarget } from '../../server/testing/load/run-load.ts';
import { type Balancer, startBalancer } from '../../server/testing/servers/balancer.ts';
import {
  createWorkerToken,
  startWorkerProcess,
  type WorkerProcess,
} from '../../server/testing/servers/worker-process.ts';

const RESTART_DELAY_MS = 200;

interface RemoteSettings {
  folder: string;
  memory: MemoryGroup | null;
  onLog(line: string): void;
}

/** One remote worker, which is started again whenever it ends. */
export class RemoteMember {
  /** Stopped by SIGSTOP, for longer than one fault. */
  isFrozen = false;
  readonly #start: () => WorkerProcess;
  #process: WorkerProcess;
  #isOver = false;

  constructor(start: () => WorkerProcess) {
    this.#start = start;
    this.#process = start();
    this.#watch();
  }

  get pid(): number {
    return this.#process.process.pid ?? 0;
  }

  /** Ends the process with the signal; another one starts. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const { process: child, exited } = this.#process;
    child.kill(signal);
    await exited;
  }

  /** Ends the process for good and returns its exit code. */
  async stop(signal: NodeJS.Signals): Promise<number | null> {
    this.#isOver = true;
    this.#process.process.kill(signal);
    return this.#process.exited;
  }

  #watch(): void {
    void this.#process.exited.then(async () => {
      if (this.#isOver) return;
      await sleep(RESTART_DELAY_MS);
      if (this.#isOver) return;
      this.#process = this.#start();
      this.#watch();
    });
  }
}

/** All remote workers, and the network between them and the servers. */
export class RemoteWorkers {
  readonly members: RemoteMember[] = [];
  readonly #settings: RemoteSettings;
  readonly #network: Balancer;
  #urls: readonly string[] = [];
  #isCut = false;

  private constructor(settings: RemoteSettings, network: Balancer) {
    this.#settings = settings;
    this.#network = network;
  }

  static async open(settings: RemoteSettings): Promise<RemoteWorkers> {
    return new RemoteWorkers(settings, await startBalancer());
  }

  /** Sets the addresses of the servers, which change when a server starts again. */
  connect(urls: readonly string[]): void {
    this.#urls = urls;
    if (!this.#isCut) this.#network.use(urls);
  }

  /** Starts workers with a token that executes the runs of all accounts. */
  async start(count: number, target: Pick<RequestTarget, 'request'>): Promise<void> {
    const { token } = await createWorkerToken(target, { all_accounts: true });
    const { folder, memory, onLog } = this.#settings;
    for (let index = 0; index < count; index += 1) {
      const name = `remote-${index}`;
      const args = ['--slots', '2', '--data', join(folder, name)];
      const start = () =>
        startWorkerProcess(this.#network.url, token, args, {
          onLog: (line) => onLog(`${name} ${line}`),
          ...(memory ? { memoryGroup: memory } : {}),
        });
      this.members.push(new RemoteMember(start));
    }
  }

  /** Cuts the network for the time. */
  async cut(durationMs: number): Promise<void> {
    this.#isCut = true;
    this.#network.use([]);
    this.#network.cut();
    await sleep(durationMs);
    this.#isCut = false;
    this.#network.use(this.#urls);
  }

  /** Ends all workers; returns those that did not exit with 0. */
  async shutDown(): Promise<string[]> {
    const codes = await Promise.all(this.members.map((one) => one.stop('SIGTERM')));
    return codes
      .filter((code) => code !== 0)
      .map((code) => `a remote worker ended with ${code} after SIGTERM`);
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((one) => one.stop('SIGKILL')));
    await this.#network.close();
  }
}
