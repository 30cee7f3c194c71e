/**
 * The processes under test. On SQLite these are one server with all roles, and a remote worker. On PostgreSQL these are two
 * servers, two workers and two remote workers, with the database and the object store of the servers. The cluster also holds the
 * clock offset, and whether an active fault permits 503 responses.
 */
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openS3Blobs } from '../server/platform/blobs/s3.ts';
import { startS3Server } from '../server/platform/blobs/testing/s3-server.ts';
import {
  createDatabase,
  type PostgresServer,
  startPostgres,
} from '../server/testing/database/postgres-server.ts';
import type { MemoryGroup } from '../server/testing/host/memory-group.ts';
import { sleep } from '../server/testing/host/sleep.ts';
import type { RequestOptions, TestResponse } from '../server/testing/http/request.ts';
import { listBlobsOnDisk, openQuery } from '../server/testing/load/invariants.ts';
import type { RequestTarget } from '../server/testing/load/run-load.ts';
import { type ServerProcess, startServerProcess } from '../server/testing/servers/server-process.ts';
import type { CodeSnapshot } from './code-snapshot.ts';
import type { TestDisk } from './disk.ts';
import type { FaultSettings } from './faulty-server.ts';
import { RemoteWorkers } from './remote/remote-workers.ts';

const ENTRY = join(import.meta.dirname, 'faulty-server.ts');
/** The chaos test keeps the host busy, and other programs may too. */
const START_TIMEOUT_MS = 120_000;
const RESPONSE_TIMEOUT_MS = 90_000;
/** How long after a fault a 503 response is still permitted. */
const FAULT_EFFECT_MS = 15_000;

type Role = 'all' | 'server' | 'worker';

/** Settings of a cluster; `disk`, `failingDisk` and `memory` are null if the host lacks them. */
export interface ClusterSettings {
  /** Folder of all data. */
  folder: string;
  database: 'sqlite' | 'postgres';
  disk: TestDisk | null;
  /** The environment of a server whose disk can fail. */
  failingDisk: { env: Record<string, string> } | null;
  /** The memory cgroup of every server and worker. */
  memory: MemoryGroup | null;
  /** The code with which every process starts. */
  code: CodeSnapshot;
  onLog(line: string): void;
}

/** One process, running or not. */
export class ClusterMember {
  readonly role: Role;
  readonly data: string;
  readonly restartMs: number[] = [];
  /** True from a complete start to the next signal: a balancer sends requests to it. */
  isRunning = false;
  /** Stopped by SIGSTOP, for longer than one fault. */
  isFrozen = false;
  readonly #cluster: Cluster;
  readonly #env: Record<string, string>;
  #process: Promise<ServerProcess>;
  /** True once the cluster shuts down: nothing starts any more. */
  #isOver = false;

  constructor(cluster: Cluster, role: Role, env: Record<string, string>) {
    this.role = role;
    this.data = join(cluster.settings.folder, `${role}-${cluster.members.length}`);
    this.#cluster = cluster;
    this.#env = env;
    mkdirSync(this.data, { mode: 0o700 });
    const [first] = cluster.members;
    // Only the process that creates the installation writes the root token; later processes get a copy.
    const token = first && join(first.data, 'root-token');
    if (token && existsSync(token)) copyFileSync(token, join(this.data, 'root-token'));
    this.#process = this.#start();
  }

  /** Resolves when the process is ready. */
  get whenReady(): Promise<ServerProcess> {
    return this.#process;
  }

  sendFaultSettings(order: FaultSettings): void {
    this.#process.then(
      (one) => one.send(order),
      () => undefined,
    );
  }

  /** Ends the process with the signal, runs `meanwhile`, and starts it again. */
  async restart(signal: NodeJS.Signals, meanwhile?: (member: ClusterMember) => Promise<void>): Promise<void> {
    const before = await this.#process;
    this.isRunning = false;
    this.#process = (async () => {
      const begun = performance.now();
      const exit = await before.kill(signal);
      const after = ((performance.now() - begun) / 1000).toFixed(1);
      this.#cluster.settings.onLog(
        `${this.role} ${before.pid} ended with ${exit}, ${after} s after ${signal}`,
      );
      await meanwhile?.(this);
      return this.#start();
    })();
    await this.#process;
  }

  async stop(signal: NodeJS.Signals): Promise<number | string> {
    this.#isOver = true;
    const last = await this.#process.catch(() => null);
    return last ? last.kill(signal) : 0;
  }

  /** Starts the process again after its end. */
  async startAgain(): Promise<void> {
    this.#isOver = false;
    this.#process = this.#start();
    await this.#process;
  }

  /** Starts the process with other settings. Returns the refusal, or null after a successful start, which it ends. */
  async tryStart(env: Record<string, string>): Promise<string | null> {
    try {
      const started = await startServerProcess({ dataFolder: this.data, env: { ...this.#env, ...env } });
      await started.kill('SIGTERM');
      return null;
    } catch (error) {
      return String(error);
    }
  }

  /** Retries like a service manager, because disk or database may be unavailable. */
  async #start(): Promise<ServerProcess> {
    const begun = performance.now();
    for (;;) {
      this.#cluster.settings.code.assertUnchanged();
      try {
        const started = await startServerProcess({
          dataFolder: this.data,
          env: this.#env,
          main: { path: ENTRY, args: [String(this.#cluster.clockAheadMs)] },
          ...(this.#cluster.settings.memory && { memoryGroup: this.#cluster.settings.memory }),
          onLog: (line) => this.#cluster.settings.onLog(`${this.role} ${line}`),
        });
        started.send({ clockAheadMs: this.#cluster.clockAheadMs } satisfies FaultSettings);
        this.restartMs.push(performance.now() - begun);
        this.isRunning = true;
        void this.#cluster.connectRemotes();
        return started;
      } catch (error) {
        this.#cluster.settings.onLog(`${this.role} could not start: ${String(error)}`);
        const isLate = performance.now() - begun > START_TIMEOUT_MS;
        if (this.#isOver || isLate || !this.#cluster.isStorageFaulty) throw error;
        await sleep(500);
      }
    }
  }
}

/** The processes under test, with their clock offset and their recorded failures. */
export class Cluster implements RequestTarget {
  readonly settings: ClusterSettings;
  readonly members: ClusterMember[] = [];
  postgres: PostgresServer | null = null;
  /** URL of the database; empty for SQLite in the data folder. */
  databaseUrl = '';
  clockAheadMs = 0;
  /** 503 responses during a fault of disk or database. */
  permittedFailures = 0;
  /** Other 5xx responses, and requests without a response. */
  readonly rejections: string[] = [];
  /** Starts on another database: their number, and the violations. */
  readonly wrongStarts: { count: number; violations: string[] } = { count: 0, violations: [] };
  #activeFaults = 0;
  #requestCount = 0;
  #lastFaultEnd = Number.NEGATIVE_INFINITY;
  /** Null before the start. */
  remotes: RemoteWorkers | null = null;
  #closers: (() => Promise<void>)[] = [];
  #listBlobKeys = async (): Promise<string[]> => listBlobsOnDisk(this.front.data);

  constructor(settings: ClusterSettings) {
    this.settings = settings;
  }

  /** The process that created the installation. */
  get front(): ClusterMember {
    const [first] = this.members;
    if (!first) throw new Error('The cluster has no process: call start() first.');
    return first;
  }

  /** The processes that serve requests. */
  get servers(): ClusterMember[] {
    return this.members.filter(({ role }) => role !== 'worker');
  }

  get workers(): ClusterMember[] {
    return this.members.filter(({ role }) => role === 'worker');
  }

  async start(): Promise<void> {
    const env: Record<string, string> = { SWITCHYARD_CAPACITY: '4', SWITCHYARD_LOG_LEVEL: 'warn' };
    if (this.settings.database === 'sqlite') {
      const failing = this.settings.failingDisk?.env;
      this.members.push(new ClusterMember(this, 'all', { ...env, ...failing, SWITCHYARD_CAPACITY: '3' }));
      await this.front.whenReady;
      await this.#startRemotes(1);
      return;
    }
    this.postgres = await startPostgres({ parentFolder: this.settings.folder, isDurable: true });
    // `main.ts` removes the folder when every promise held, and keeps it for a look at the rows otherwise.
    this.#closers.push(async () => this.postgres?.stop({ keepsData: true }));
    this.databaseUrl = await createDatabase(this.postgres.url, 'switchyard');
    const s3 = await startS3Server();
    this.#closers.push(() => s3.stop());
    const bucket = `s3://${s3.bucket}?endpoint=${s3.endpoint}`;
    const store = await openS3Blobs(bucket, s3.credentials, { spool: join(this.settings.folder, 'spool') });
    this.#listBlobKeys = () => Array.fromAsync(store.list(Number.MAX_SAFE_INTEGER));
    Object.assign(env, {
      SWITCHYARD_DATABASE: this.databaseUrl,
      SWITCHYARD_KEY: randomBytes(32).toString('base64'),
      SWITCHYARD_CAPACITY: '2',
      ...s3.env,
      SWITCHYARD_BLOBS: bucket,
    });
    for (const role of ['server', 'server', 'worker', 'worker'] as const) {
      this.members.push(new ClusterMember(this, role, { ...env, SWITCHYARD_ROLE: role }));
      // The first process creates the tables and the token.
      await this.front.whenReady;
    }
    await Promise.all(this.members.map(({ whenReady }) => whenReady));
    await this.#startRemotes(2);
  }

  async #startRemotes(count: number): Promise<void> {
    this.remotes = await RemoteWorkers.open(this.settings);
    await this.connectRemotes();
    await this.remotes.start(count, this);
  }

  /** Tells the network of the remote workers where the servers are now. */
  async connectRemotes(): Promise<void> {
    if (!this.remotes) return;
    const running = this.servers.filter(({ isRunning }) => isRunning);
    const ready = await Promise.all(running.map(({ whenReady }) => whenReady));
    this.remotes.connect(ready.map(({ url }) => url));
  }

  /** Queries the database directly, for reading only. No other code does so while the server runs. */
  async queryDatabase(sql: string): Promise<Record<string, unknown>[]> {
    const { query, close } = await openQuery(this.front.data, this.databaseUrl);
    try {
      return await query(sql);
    } finally {
      await close();
    }
  }

  /** Returns the keys of the stored blobs. */
  listBlobKeys(): Promise<string[]> {
    return this.#listBlobKeys();
  }

  /** True while disk or database are unavailable, and for 15 s after it. */
  get isStorageFaulty(): boolean {
    return this.#activeFaults > 0 || performance.now() - this.#lastFaultEnd < FAULT_EFFECT_MS;
  }

  /** Runs the work, during which disk or database may be unavailable. */
  async duringStorageFault(work: () => Promise<void>): Promise<void> {
    this.#activeFaults += 1;
    try {
      await work();
    } finally {
      this.#activeFaults -= 1;
      this.#lastFaultEnd = performance.now();
    }
  }

  /** Sets the clocks of all processes. */
  setClocks(aheadMs: number): void {
    this.clockAheadMs = aheadMs;
    for (const one of this.members) one.sendFaultSettings({ clockAheadMs: aheadMs });
  }

  /** Sends to the servers in turns, like a balancer: to one that is being restarted only if there is no other. */
  #nextServer(): ClusterMember {
    const running = this.servers.filter(({ isRunning }) => isRunning);
    this.#requestCount += 1;
    return running[this.#requestCount % running.length] ?? this.front;
  }

  async request(method: string, path: string, options?: RequestOptions): Promise<TestResponse> {
    const server = await this.#nextServer().whenReady;
    let cancel = (): void => {};
    const late = new Promise<never>((_, reject) => {
      const timer = setTimeout(() => {
        this.rejections.push(`${method} ${path} had no response after ${RESPONSE_TIMEOUT_MS / 1000} s`);
        reject(new Error('no response'));
      }, RESPONSE_TIMEOUT_MS);
      cancel = () => clearTimeout(timer);
    });
    try {
      const wasFaulty = this.isStorageFaulty;
      const response = await Promise.race([server.request(method, path, options), late]);
      if (response.status >= 500) {
        const isPermitted = response.status === 503 && (wasFaulty || this.isStorageFaulty);
        if (isPermitted) this.permittedFailures += 1;
        else this.rejections.push(`${method} ${path} ${response.status} ${response.text.slice(0, 200)}`);
        // The request may or may not have taken effect, as without a response.
        throw new Error(`status ${response.status}`);
      }
      return response;
    } finally {
      cancel();
    }
  }

  /** Ends every process, by SIGKILL if necessary. Returns the processes that did not exit with 0. */
  async shutDown(): Promise<string[]> {
    const wrong = (await this.remotes?.shutDown()) ?? [];
    // Workers first, because the server does not stop them; each requeues its unfinished runs.
    for (const one of [...this.members].reverse()) {
      const exit = await one.stop('SIGTERM');
      if (exit !== 0) wrong.push(`the ${one.role} ended with ${exit} after SIGTERM`);
    }
    return wrong;
  }

  /** Starts only the first process again. */
  async restartFirst(): Promise<void> {
    await this.front.startAgain();
  }

  async close(): Promise<void> {
    await this.remotes?.close();
    for (const one of this.members) await one.stop('SIGKILL').catch(() => undefined);
    for (const closer of this.#closers.splice(0).reverse()) await closer().catch(() => undefined);
  }
}
