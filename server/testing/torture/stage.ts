/**
 * What is tortured: on SQLite one server that does everything, on PostgreSQL a server, two workers, the database and the
 * store they share. Holds the processes, how wrong their clocks are, and whether anything is done to them just now that
 * excuses an answer of 503.
 */
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openS3Blobs } from '../../blobs/s3.ts';
import { startS3Server } from '../../blobs/testing/s3-server.ts';
import type { MemoryGroup } from '../memory-group.ts';
import { createDatabase, type PostgresServer, startPostgres } from '../postgres-server.ts';
import { type ServerProcess, startServerProcess } from '../process.ts';
import type { Answer, Ask } from '../request.ts';
import { blobsOnDisk, openQuery } from './checks.ts';
import type { CodeSnapshot } from './code.ts';
import type { Disk } from './disk.ts';
import type { Order } from './entry.ts';
import { pause, type Target } from './load.ts';

const ENTRY = join(import.meta.dirname, 'entry.ts');
/** The host is busy with the torture, and perhaps with others. */
const STARTED_WITHIN_MS = 120_000;
const ANSWERED_WITHIN_MS = 90_000;
/** How long after a blow its traces may show in answers. */
const EXCUSED_MS = 15_000;

type Role = 'all' | 'server' | 'worker';

export interface StageSettings {
  /** Where everything lies. */
  folder: string;
  database: 'sqlite' | 'postgres';
  disk: Disk | null;
  /** The memory cgroup that every server and worker lives in. */
  memory: MemoryGroup | null;
  /** The code that every process is started from. */
  code: CodeSnapshot;
  onLog(line: string): void;
}

/** One of the processes, dead or alive. */
export class Member {
  readonly role: Role;
  readonly data: string;
  readonly restartMs: number[] = [];
  /** Stopped by SIGSTOP, for longer than a blow takes. */
  frozen = false;
  readonly #stage: Stage;
  readonly #env: Record<string, string>;
  #process: Promise<ServerProcess>;
  /** Where nothing is started any more. */
  #over = false;

  constructor(stage: Stage, role: Role, env: Record<string, string>) {
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
  get up(): Promise<ServerProcess> {
    return this.#process;
  }

  tell(order: Order): void {
    this.#process.then(
      (one) => one.send(order),
      () => undefined,
    );
  }

  /** Ends it and starts it again; `meanwhile` is done in between. */
  async restart(signal: NodeJS.Signals, meanwhile?: (member: Member) => Promise<void>): Promise<void> {
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

  async end(signal: NodeJS.Signals): Promise<number | string> {
    this.#over = true;
    const last = await this.#process.catch(() => null);
    return last ? last.kill(signal) : 0;
  }

  /** Starts it once more after its end. */
  async again(): Promise<void> {
    this.#over = false;
    this.#process = this.#start();
    await this.#process;
  }

  /** Starts it with other settings; returns why it was refused, or null when it came up, and then ends it. */
  async tryStart(env: Record<string, string>): Promise<string | null> {
    try {
      const started = await startServerProcess({ data: this.data, env: { ...this.#env, ...env } });
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
      this.#stage.settings.code.expectUnchanged();
      try {
        const started = await startServerProcess({
          data: this.data,
          env: this.#env,
          main: { path: ENTRY, args: [String(this.#stage.clockAheadMs)] },
          ...(this.#stage.settings.memory && { group: this.#stage.settings.memory }),
          onLog: (line) => this.#stage.settings.onLog(`${this.role} ${line}`),
        });
        started.send({ clockAheadMs: this.#stage.clockAheadMs } satisfies Order);
        this.restartMs.push(performance.now() - begun);
        return started;
      } catch (error) {
        this.#stage.settings.onLog(`${this.role} could not start: ${String(error)}`);
        const late = performance.now() - begun > STARTED_WITHIN_MS;
        if (this.#over || late || !this.#stage.isTroubled) throw error;
        await pause(500);
      }
    }
  }
}

export class Stage implements Target {
  readonly settings: StageSettings;
  readonly members: Member[] = [];
  postgres: PostgresServer | null = null;
  /** Address of the database; empty: SQLite in the data folder. */
  address = '';
  clockAheadMs = 0;
  /** Answers of 503 while something was done to disk or database. */
  excused = 0;
  /** Answers that nothing excuses, and requests that were never answered. */
  readonly refused: string[] = [];
  /** Starts on a database that is not its own: how many were tried, and what went wrong. */
  readonly wrongStarts: { count: number; violations: string[] } = { count: 0, violations: [] };
  #troubles = 0;
  #lastTrouble = Number.NEGATIVE_INFINITY;
  #closers: (() => Promise<void>)[] = [];
  #blobKeys = async (): Promise<string[]> => blobsOnDisk(this.front.data);

  constructor(settings: StageSettings) {
    this.settings = settings;
  }

  /** The one that answers requests. */
  get front(): Member {
    const [first] = this.members;
    if (!first) throw new Error('nothing was started');
    return first;
  }

  get workers(): Member[] {
    return this.members.filter(({ role }) => role === 'worker');
  }

  async open(): Promise<void> {
    const env: Record<string, string> = { SWITCHYARD_CAPACITY: '4', SWITCHYARD_LOG_LEVEL: 'warn' };
    if (this.settings.database === 'sqlite') {
      this.members.push(new Member(this, 'all', env));
      await this.front.up;
      return;
    }
    this.postgres = await startPostgres({ within: this.settings.folder, durable: true });
    this.#closers.push(async () => this.postgres?.stop());
    this.address = await createDatabase(this.postgres.address, 'switchyard');
    const s3 = await startS3Server();
    this.#closers.push(() => s3.stop());
    const bucket = `s3://${s3.bucket}?endpoint=${s3.endpoint}`;
    const store = await openS3Blobs(bucket, s3.credentials, { spool: join(this.settings.folder, 'spool') });
    this.#blobKeys = () => Array.fromAsync(store.list(Number.MAX_SAFE_INTEGER));
    Object.assign(env, {
      SWITCHYARD_DATABASE: this.address,
      SWITCHYARD_KEY: randomBytes(32).toString('base64'),
      SWITCHYARD_CAPACITY: '2',
      SWITCHYARD_BLOBS: bucket,
      AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
    });
    for (const role of ['server', 'worker', 'worker'] as const) {
      this.members.push(new Member(this, role, { ...env, SWITCHYARD_ROLE: role }));
      // The first makes the tables and the token.
      await this.front.up;
    }
    await Promise.all(this.members.map(({ up }) => up));
  }

  /** Asks the database itself, as nobody else does while the server runs; it only reads. */
  async askDatabase(sql: string): Promise<Record<string, unknown>[]> {
    const { query, close } = await openQuery(this.front.data, this.address);
    try {
      return await query(sql);
    } finally {
      await close();
    }
  }

  /** Keys of the blobs that are there. */
  blobKeys(): Promise<string[]> {
    return this.#blobKeys();
  }

  /** Whether disk or database are away, or were a moment ago. */
  get isTroubled(): boolean {
    return this.#troubles > 0 || performance.now() - this.#lastTrouble < EXCUSED_MS;
  }

  /** Does the work, during which disk or database may be away. */
  async troubled(work: () => Promise<void>): Promise<void> {
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
    for (const one of this.members) one.tell({ clockAheadMs: aheadMs });
  }

  async ask(method: string, path: string, ask?: Ask): Promise<Answer> {
    const front = await this.front.up;
    let cancel = (): void => {};
    const late = new Promise<never>((_, reject) => {
      const timer = setTimeout(() => {
        this.refused.push(`${method} ${path} had no answer after ${ANSWERED_WITHIN_MS / 1000} s`);
        reject(new Error('no answer'));
      }, ANSWERED_WITHIN_MS);
      cancel = () => clearTimeout(timer);
    });
    try {
      const wasTroubled = this.isTroubled;
      const answer = await Promise.race([front.ask(method, path, ask), late]);
      if (answer.status >= 500) {
        const excuses = answer.status === 503 && (wasTroubled || this.isTroubled);
        if (excuses) this.excused += 1;
        else this.refused.push(`${method} ${path} ${answer.status} ${answer.text.slice(0, 200)}`);
        // What was asked for may have been done or not, as when there is no answer.
        throw new Error(`answered ${answer.status}`);
      }
      return answer;
    } finally {
      cancel();
    }
  }

  /** Ends every process; those that take longer than they may are killed. Answers what went wrong on the way. */
  async leave(): Promise<string[]> {
    const wrong: string[] = [];
    // Workers first, as the server tells them nothing; each gives back what it has not ended.
    for (const one of [...this.members].reverse()) {
      const how = await one.end('SIGTERM');
      if (how !== 0) wrong.push(`the ${one.role} was asked to leave and ended with ${how}`);
    }
    return wrong;
  }

  /** Starts the first process alone once more. */
  async comeBack(): Promise<void> {
    await this.front.again();
  }

  async close(): Promise<void> {
    for (const one of this.members) await one.end('SIGKILL').catch(() => undefined);
    for (const closer of this.#closers.splice(0).reverse()) await closer().catch(() => undefined);
  }
}
