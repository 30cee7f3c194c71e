/**
 * What is tortured: on SQLite one server that does everything, on PostgreSQL a server, two workers, the database and the
 * store they share. Holds the processes, how wrong their clocks are, and whether anything is done to them just now that
 * excuses an answer of 503.
 */
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openS3Blobs } from '../server/blobs/s3.ts';
import { startS3Server } from '../server/blobs/testing/s3-server.ts';
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

const ENTRY = join(import.meta.dirname, 'faulty-server.ts');
/** The host is busy with the torture, and perhaps with others. */
const STARTED_WITHIN_MS = 120_000;
const ANSWERED_WITHIN_MS = 90_000;
/** How long after a fault its effects may show in responses. */
const EXCUSED_MS = 15_000;

type Role = 'all' | 'server' | 'worker';

export interface ClusterSettings {
  /** Where everything lies. */
  folder: string;
  database: 'sqlite' | 'postgres';
  disk: TestDisk | null;
  /** The memory cgroup that every server and worker lives in. */
  memory: MemoryGroup | null;
  /** The code that every process is started from. */
  code: CodeSnapshot;
  onLog(line: string): void;
}

/** One of the processes, dead or alive. */
export class ClusterMember {
  readonly role: Role;
  readonly data: string;
  readonly restartMs: number[] = [];
  /** Stopped by SIGSTOP, for longer than a fault takes. */
  isFrozen = false;
  readonly #stage: Cluster;
  readonly #env: Record<string, string>;
  #process: Promise<ServerProcess>;
  /** Where nothing is started any more. */
  #over = false;

  constructor(stage: Cluster, role: Role, env: Record<string, string>) {
    this.role = role;
    this.data = join(stage.settings.folder, `${role}-${stage.members.length}`);
    this.#stage = stage;
    this.#env = env;
    mkdirSync(this.data, { mode: 0o700 });
    const [first] = stage.members;
    // The token is told once, to the process that makes the installation; those that come later share it.
    const token = first && join(first.data, 'root-token');
    if (token && existsSync(token)) copyFileSync(token, join(this.data, 'root-token'));
    this.#process = this.#start();
  }

  /** Resolves once it is up. */
  get whenReady(): Promise<ServerProcess> {
    return this.#process;
  }

  sendFaultSettings(order: FaultSettings): void {
    this.#process.then(
      (one) => one.send(order),
      () => undefined,
    );
  }

  /** Ends it and starts it again; `meanwhile` is done in between. */
  async restart(signal: NodeJS.Signals, meanwhile?: (member: ClusterMember) => Promise<void>): Promise<void> {
    const before = await this.#process;
    this.#process = (async () => {
      const asked = performance.now();
      const how = await before.kill(signal);
      const after = ((performance.now() - asked) / 1000).toFixed(1);
      this.#stage.settings.onLog(`${this.role} ${before.pid} ended with ${how}, ${after} s after ${signal}`);
      await meanwhile?.(this);
      return this.#start();
    })();
    await this.#process;
  }

  async stop(signal: NodeJS.Signals): Promise<number | string> {
    this.#over = true;
    const last = await this.#process.catch(() => null);
    return last ? last.kill(signal) : 0;
  }

  /** Starts it once more after its end. */
  async startAgain(): Promise<void> {
    this.#over = false;
    this.#process = this.#start();
    await this.#process;
  }

  /** Starts it with other settings; returns why it was refused, or null when it came up, and then ends it. */
  async tryStart(env: Record<string, string>): Promise<string | null> {
    try {
      const started = await startServerProcess({ dataFolder: this.data, env: { ...this.#env, ...env } });
      await started.kill('SIGTERM');
      return null;
    } catch (error) {
      return String(error);
    }
  }

  /** As a service manager does: again and again, because disk or database may be away. */
  async #start(): Promise<ServerProcess> {
    const begun = performance.now();
    for (;;) {
      this.#stage.settings.code.assertUnchanged();
      try {
        const started = await startServerProcess({
          dataFolder: this.data,
          env: this.#env,
          main: { path: ENTRY, args: [String(this.#stage.clockAheadMs)] },
          ...(this.#stage.settings.memory && { memoryGroup: this.#stage.settings.memory }),
          onLog: (line) => this.#stage.settings.onLog(`${this.role} ${line}`),
        });
        started.send({ clockAheadMs: this.#stage.clockAheadMs } satisfies FaultSettings);
        this.restartMs.push(performance.now() - begun);
        return started;
      } catch (error) {
        this.#stage.settings.onLog(`${this.role} could not start: ${String(error)}`);
        const late = performance.now() - begun > STARTED_WITHIN_MS;
        if (this.#over || late || !this.#stage.isStorageFaulty) throw error;
        await sleep(500);
      }
    }
  }
}

export class Cluster implements RequestTarget {
  readonly settings: ClusterSettings;
  readonly members: ClusterMember[] = [];
  postgres: PostgresServer | null = null;
  /** Address of the database; empty: SQLite in the data folder. */
  databaseUrl = '';
  clockAheadMs = 0;
  /** Answers of 503 while something was done to disk or database. */
  excusedResponses = 0;
  /** Answers that nothing excuses, and requests that were never answered. */
  readonly rejections: string[] = [];
  /** Starts on a database that is not its own: how many were tried, and what went wrong. */
  readonly wrongStarts: { count: number; violations: string[] } = { count: 0, violations: [] };
  #troubles = 0;
  #lastTrouble = Number.NEGATIVE_INFINITY;
  #closers: (() => Promise<void>)[] = [];
  #listBlobKeys = async (): Promise<string[]> => listBlobsOnDisk(this.front.data);

  constructor(settings: ClusterSettings) {
    this.settings = settings;
  }

  /** The one that answers requests. */
  get front(): ClusterMember {
    const [first] = this.members;
    if (!first) throw new Error('nothing was started');
    return first;
  }

  get workers(): ClusterMember[] {
    return this.members.filter(({ role }) => role === 'worker');
  }

  async start(): Promise<void> {
    const env: Record<string, string> = { SWITCHYARD_CAPACITY: '4', SWITCHYARD_LOG_LEVEL: 'warn' };
    if (this.settings.database === 'sqlite') {
      this.members.push(new ClusterMember(this, 'all', env));
      await this.front.whenReady;
      return;
    }
    this.postgres = await startPostgres({ parentFolder: this.settings.folder, isDurable: true });
    this.#closers.push(async () => this.postgres?.stop());
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
      SWITCHYARD_BLOBS: bucket,
      AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
    });
    for (const role of ['server', 'worker', 'worker'] as const) {
      this.members.push(new ClusterMember(this, role, { ...env, SWITCHYARD_ROLE: role }));
      // The first makes the tables and the token.
      await this.front.whenReady;
    }
    await Promise.all(this.members.map(({ whenReady: up }) => up));
  }

  /** Asks the database itself, as nobody else does while the server runs; it only reads. */
  async queryDatabase(sql: string): Promise<Record<string, unknown>[]> {
    const { query, close } = await openQuery(this.front.data, this.databaseUrl);
    try {
      return await query(sql);
    } finally {
      await close();
    }
  }

  /** Keys of the blobs that are there. */
  blobKeys(): Promise<string[]> {
    return this.#listBlobKeys();
  }

  /** Whether disk or database are away, or were a moment ago. */
  get isStorageFaulty(): boolean {
    return this.#troubles > 0 || performance.now() - this.#lastTrouble < EXCUSED_MS;
  }

  /** Does the work, during which disk or database may be away. */
  async duringStorageFault(work: () => Promise<void>): Promise<void> {
    this.#troubles += 1;
    try {
      await work();
    } finally {
      this.#troubles -= 1;
      this.#lastTrouble = performance.now();
    }
  }

  /** Sets the clocks of all. */
  setClocks(aheadMs: number): void {
    this.clockAheadMs = aheadMs;
    for (const one of this.members) one.sendFaultSettings({ clockAheadMs: aheadMs });
  }

  async request(method: string, path: string, ask?: RequestOptions): Promise<TestResponse> {
    const front = await this.front.whenReady;
    let cancel = (): void => {};
    const late = new Promise<never>((_, reject) => {
      const timer = setTimeout(() => {
        this.rejections.push(`${method} ${path} had no answer after ${ANSWERED_WITHIN_MS / 1000} s`);
        reject(new Error('no answer'));
      }, ANSWERED_WITHIN_MS);
      cancel = () => clearTimeout(timer);
    });
    try {
      const wasTroubled = this.isStorageFaulty;
      const answer = await Promise.race([front.request(method, path, ask), late]);
      if (answer.status >= 500) {
        const excuses = answer.status === 503 && (wasTroubled || this.isStorageFaulty);
        if (excuses) this.excusedResponses += 1;
        else this.rejections.push(`${method} ${path} ${answer.status} ${answer.text.slice(0, 200)}`);
        // What was asked for may have been done or not, as when there is no answer.
        throw new Error(`answered ${answer.status}`);
      }
      return answer;
    } finally {
      cancel();
    }
  }

  /** Ends every process; those that take longer than they may are killed. Answers what went wrong on the way. */
  async shutDown(): Promise<string[]> {
    const wrong: string[] = [];
    // Workers first, as the server tells them nothing; each gives back what it has not ended.
    for (const one of [...this.members].reverse()) {
      const how = await one.stop('SIGTERM');
      if (how !== 0) wrong.push(`the ${one.role} was asked to leave and ended with ${how}`);
    }
    return wrong;
  }

  /** Starts the first process alone once more. */
  async restartFirst(): Promise<void> {
    await this.front.startAgain();
  }

  async close(): Promise<void> {
    for (const one of this.members) await one.stop('SIGKILL').catch(() => undefined);
    for (const closer of this.#closers.splice(0).reverse()) await closer().catch(() => undefined);
  }
}
