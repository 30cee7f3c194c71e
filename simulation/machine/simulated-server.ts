/** The server in the simulated world: all of it, without sockets. It starts, stops, crashes and starts again on its disk. */

import type { FastifyInstance } from 'fastify';
import { ResultsWorkerPool } from '../../server/experiments/results/results-worker-pool.ts';
import { type RunningServer, startServer } from '../../server/main.ts';
import type { PostDelivery } from '../../server/ops/webhooks/send.ts';
import { readConfig } from '../../server/platform/config.ts';
import type { Database } from '../../server/platform/database/database.ts';
import { errorMessage, type Log } from '../../server/platform/log.ts';
import { createRandom, type Draws } from '../kernel/draws.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import { SimulatedProcess } from '../kernel/simulated-process.ts';
import type { Peers } from '../peers/peers.ts';
import type { MemoryBlobs } from './memory-blobs.ts';
import type { CrashKind } from './simulated-disk.ts';

/** The address under which clients and workers reach the server. */
export const SERVER_URL = 'http://switchyard.test';
/** A service manager starts a process again after this time. */
const RESTART_MS = 1000;

/** A request as a client sends it. */
export interface WireRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: Buffer | string;
}

/** A response of the server. */
export interface WireResponse {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** The connection broke before a response. */
export class BrokenConnectionError extends Error {}

/** What is left of a server when its process ends. */
export interface ServerDisk {
  /** The data folder. */
  readonly folder: string;
  /** Returns more settings for a process that starts. */
  createSettings?(owner: SimulatedProcess): Record<string, string>;
  /** Without it the settings name the database. */
  openDatabase?(owner: SimulatedProcess): Database;
  /** The process ends without a word. */
  crash(kind: CrashKind): void;
  /** The process is about to close its database. */
  stopObserving(): void;
  /** The process has closed everything. */
  release(): void;
}

export interface ServerParts {
  /** By default it is the only one. */
  name?: string;
  scheduler: Scheduler;
  draws: Draws;
  disk: ServerDisk;
  blobs: MemoryBlobs;
  /** Returns the way of a process to the receivers. */
  connectReceivers(owner: SimulatedProcess): PostDelivery;
  /** What the server talks to besides, and its settings for them. */
  peers: Peers;
  /** Receives what the server writes to its log. */
  onLog(level: 'warn' | 'error', message: string, fields: object): void;
  /** The server listens. */
  onStart?(): void;
}

/** The server, across all its processes. */
export class SimulatedServer {
  readonly #parts: ServerParts;
  #process: SimulatedProcess | null = null;
  #http: FastifyInstance | null = null;
  #running: RunningServer | null = null;
  readonly #open = new Set<(error: Error) => void>();
  #clockOffset = 0;
  #rootToken = '';
  boots = 0;
  readonly refusedStarts: string[] = [];

  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  get isListening(): boolean {
    return this.#http !== null;
  }

  /** The token of the first account. */
  get rootToken(): string {
    return this.#rootToken;
  }

  get running(): RunningServer | null {
    return this.#running;
  }

  /** Starts a process. It listens some events later; a start that fails is repeated. */
  start(): void {
    const { scheduler, draws, disk, blobs, connectReceivers, peers, onStart } = this.#parts;
    this.boots += 1;
    const owner = new SimulatedProcess(`${this.#parts.name ?? 'server'} ${this.boots}`, scheduler);
    owner.moveClock(this.#clockOffset);
    this.#process = owner;
    scheduler.note(`${owner.name} starts`);
    const config = readConfig({
      SWITCHYARD_DATA: disk.folder,
      SWITCHYARD_CAPACITY: '0',
      SWITCHYARD_RATE_LIMIT: '0',
      SWITCHYARD_SIGN_UP: 'open',
      ...disk.createSettings?.(owner),
      ...peers.settings,
    });
    const openDatabase = disk.openDatabase?.bind(disk);
    const opened = startServer(config, {
      clock: owner.clock,
      random: createRandom(draws, owner.clock.now),
      log: this.#createLog(owner),
      resolveHostname: async () => ['93.184.216.34'],
      // A thread would answer after a real time.
      resultsWorkerPool: new ResultsWorkerPool({ mainThreadRunsMax: Number.POSITIVE_INFINITY }),
      machine: {
        ...(openDatabase && { openDatabase: () => openDatabase(owner) }),
        openBlobs: () => blobs.open(owner),
        postDelivery: connectReceivers(owner),
        ...peers.connect(owner),
        listen: async (http) => {
          await http.ready();
          if (owner.isAlive) this.#http = http;
          return SERVER_URL;
        },
      },
    });
    opened.then(
      (running) => {
        if (!owner.isAlive) return;
        this.#running = running;
        this.#rootToken ||= running.firstStart?.token ?? '';
        scheduler.note(`${owner.name} listens`);
        onStart?.();
      },
      (error: unknown) => {
        if (!owner.isAlive) return;
        const message = errorMessage(error).replaceAll(config.data, '');
        this.refusedStarts.push(message);
        scheduler.note(`${owner.name} could not start: ${message}`);
        disk.crash('kill');
        this.#end(owner);
      },
    );
  }

  #createLog(owner: SimulatedProcess): Log {
    const { scheduler, onLog, disk } = this.#parts;
    const { folder } = disk;
    const write =
      (level: 'warn' | 'error') =>
      (fields: object, message: string): void => {
        if (!owner.isAlive) return;
        // Each simulation has another folder.
        const text = JSON.stringify(fields).replaceAll(folder, '');
        scheduler.note(`${owner.name} ${level}: ${message} ${text}`);
        onLog(level, message, fields);
      };
    return { debug() {}, info() {}, warn: write('warn'), error: write('error') };
  }

  /** Ends the process at once; a service manager starts the next one. */
  crash(kind: CrashKind): void {
    const owner = this.#process;
    if (!owner) return;
    this.#parts.scheduler.note(`${owner.name} ends by ${kind}`);
    // Before the process ends: its files are as it left them.
    this.#parts.disk.crash(kind);
    this.#end(owner);
  }

  #end(owner: SimulatedProcess): void {
    const { scheduler } = this.#parts;
    owner.kill();
    this.#process = null;
    this.#http = null;
    this.#running = null;
    for (const fail of this.#open) fail(new BrokenConnectionError('socket hang up'));
    this.#open.clear();
    scheduler.after(RESTART_MS, '', () => this.start());
  }

  /** Stops the process as an operator does, and starts the next one. */
  async restart(): Promise<void> {
    const [owner, running] = [this.#process, this.#running];
    const { scheduler, disk } = this.#parts;
    if (!owner || !running) return;
    scheduler.note(`${owner.name} stops`);
    this.#http = null;
    this.#running = null;
    disk.stopObserving();
    const isClean = await running.close().then(
      () => true,
      () => false,
    );
    if (!owner.isAlive) return;
    // A process that cannot close ends all the same.
    if (isClean) disk.release();
    else disk.crash('kill');
    scheduler.note(`${owner.name} has stopped`);
    this.#end(owner);
  }

  /** Stops the server for good. */
  async stop(): Promise<void> {
    this.#http = null;
    this.#parts.disk.stopObserving();
    await this.#running?.close();
    this.#process?.kill();
    this.#process = null;
  }

  /** Returns how many rows each job of the present process has handled. */
  async readJobs(): Promise<Map<string, number>> {
    const http = this.#http;
    if (!http) return new Map();
    const { payload } = await http.inject({ url: '/metrics', headers: { host: new URL(SERVER_URL).host } });
    const rows = payload.matchAll(/^switchyard_job_rows_total\{job="([^"]+)"\} (\d+)/gm);
    return new Map([...rows].map(([, name = '', count]) => [name, Number(count)]));
  }

  pause(): void {
    this.#process?.pause();
  }

  continue(): void {
    this.#process?.continue();
  }

  moveClock(byMs: number): void {
    this.#clockOffset += byMs;
    this.#process?.moveClock(byMs);
  }

  /** Handles a request. Throws BrokenConnectionError when the process ends first, or does not listen. */
  handle(request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    const http = this.#http;
    const owner = this.#process;
    if (!http || !owner) return Promise.reject(new BrokenConnectionError('connect ECONNREFUSED'));
    return new Promise((resolve, reject) => {
      const end = (work: () => void): void => {
        this.#open.delete(fail);
        work();
      };
      const fail = (error: Error): void => end(() => reject(error));
      this.#open.add(fail);
      // A dead process does not see who gives up.
      const disconnect = new AbortController();
      signal.addEventListener('abort', () => owner.deliver(() => disconnect.abort()), { once: true });
      const { method, path, headers, body } = request;
      const inject = (): void => {
        http
          .inject({
            method: method as 'GET',
            url: path,
            headers: { host: new URL(SERVER_URL).host, ...headers },
            ...(body === undefined ? {} : { payload: body }),
            signal: disconnect.signal,
          })
          .then(
            (response) =>
              end(() =>
                resolve({
                  status: response.statusCode,
                  headers: flatten(response.headers),
                  body: response.rawPayload,
                }),
              ),
            (error: unknown) => fail(new BrokenConnectionError(errorMessage(error))),
          );
      };
      owner.deliver(inject);
    });
  }
}

function flatten(headers: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
