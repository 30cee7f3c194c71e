/** Several servers on one simulated PostgreSQL, behind a balancer. Each has a process, a clock and a data folder of its own. */
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Draws } from '../kernel/draws.ts';
import type { SimulatedProcess } from '../kernel/simulated-process.ts';
import type { CrashKind } from '../machine/simulated-disk.ts';
import {
  BrokenConnectionError,
  type ServerDisk,
  type ServerParts,
  SimulatedServer,
  type WireRequest,
  type WireResponse,
} from '../machine/simulated-server.ts';
import type { SimulatedPostgres } from './simulated-postgres.ts';

/** A crash leaves the data folder as it is: it has the lock and the key, and no rows. */
class ServerFolder implements ServerDisk {
  readonly #root: string;
  readonly #name: string;
  readonly #cluster: ClusterParts;
  #copies = 0;
  #hosts = 0;
  folder: string;
  host = '';

  constructor(name: string, cluster: ClusterParts) {
    this.#root = join(cluster.folder, name);
    this.#name = name;
    this.#cluster = cluster;
    this.folder = join(this.#root, '0');
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
  }

  createSettings(owner: SimulatedProcess): Record<string, string> {
    this.#hosts += 1;
    this.host = `${this.#name}-${this.#hosts}.test`;
    const { postgres, database, folder } = this.#cluster;
    postgres.addOwner(this.host, owner);
    return {
      SWITCHYARD_DATABASE: `postgres://postgres@${this.host}:5432/${database}`,
      SWITCHYARD_BLOBS: `file://${join(folder, 'blobs')}`,
      SWITCHYARD_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
  }

  crash(): void {
    this.#cluster.postgres.leave(this.host);
    // The dead process still has the lock of the folder, in the files that it opened.
    this.#copies += 1;
    const next = join(this.#root, String(this.#copies));
    cpSync(this.folder, next, { recursive: true });
    rmSync(this.folder, { recursive: true, force: true });
    this.folder = next;
  }

  stopObserving(): void {}

  release(): void {
    this.#cluster.postgres.leave(this.host);
  }

  /** Returns true when the id is that of this folder. */
  hasId(id: string): boolean {
    return readFileSync(join(this.folder, 'lock')).includes(id);
  }
}

interface ClusterParts {
  postgres: SimulatedPostgres;
  /** The name of the database. */
  database: string;
  folder: string;
  count: number;
  draws: Draws;
  /** Returns what a server shares with the others. */
  createParts(name: string): Omit<ServerParts, 'disk' | 'name'>;
  /** Returns the id of the data folder of the leader. */
  findLeader(): string | null;
}

/** One of the servers. */
interface Member {
  server: SimulatedServer;
  disk: ServerFolder;
}

/** The servers, for those who do not care which one they talk to. */
export class Cluster {
  readonly #parts: ClusterParts;
  readonly #members: Member[];
  /** The index of the server to which the balancer sends everything; null: to all. */
  #preferred: number | null = null;

  constructor(parts: ClusterParts) {
    this.#parts = parts;
    mkdirSync(join(parts.folder, 'blobs'), { recursive: true });
    this.#members = Array.from({ length: parts.count }, (_, index) => {
      const name = `server-${index}`;
      const disk = new ServerFolder(name, parts);
      return { disk, server: new SimulatedServer({ ...parts.createParts(name), disk, name }) };
    });
  }

  get size(): number {
    return this.#members.length;
  }

  get postgres(): SimulatedPostgres {
    return this.#parts.postgres;
  }

  get isListening(): boolean {
    return this.#members.every(({ server }) => server.isListening);
  }

  get running(): SimulatedServer['running'] {
    const all = this.#members.map(({ server }) => server.running);
    return all.includes(null) ? null : (all[0] ?? null);
  }

  get rootToken(): string {
    return this.#members.map(({ server }) => server.rootToken).find((token) => token !== '') ?? '';
  }

  get refusedStarts(): readonly string[] {
    return this.#members.flatMap(({ server }) => server.refusedStarts);
  }

  #at(index: number): Member {
    const member = this.#members[index % this.#members.length];
    if (!member) throw new Error('A cluster has a server at least.');
    return member;
  }

  /** Returns the server at the index; they repeat. */
  serverAt(index: number): SimulatedServer {
    return this.#at(index).server;
  }

  /** Returns the host name of the present process of a server. */
  hostAt(index: number): string {
    return this.#at(index).disk.host;
  }

  /** Returns the server that leads, by its lease; null when no server of the cluster has it. */
  findLeader(): SimulatedServer | null {
    const id = this.#parts.findLeader();
    return this.#members.find(({ disk }) => id !== null && disk.hasId(id))?.server ?? null;
  }

  start(): void {
    for (const { server } of this.#members) server.start();
  }

  crash(kind: CrashKind): void {
    for (const { server } of this.#members) server.crash(kind);
  }

  async restart(): Promise<void> {
    for (const { server } of this.#members) await server.restart();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#members.map(({ server }) => server.stop()));
  }

  pause(): void {
    for (const { server } of this.#members) server.pause();
  }

  continue(): void {
    for (const { server } of this.#members) server.continue();
  }

  moveClock(byMs: number): void {
    for (const { server } of this.#members) server.moveClock(byMs);
  }

  /** From now on the balancer prefers the server; null: none. */
  prefer(index: number | null): void {
    this.#preferred = index;
  }

  /** Returns how many rows the jobs of all present processes have handled. */
  async readJobs(): Promise<Map<string, number>> {
    const sum = new Map<string, number>();
    for (const { server } of this.#members)
      for (const [job, rows] of await server.readJobs()) sum.set(job, (sum.get(job) ?? 0) + rows);
    return sum;
  }

  /** Sends the request to a server; to the next one when it refuses the connection. */
  async handle(request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    const first = this.#preferred ?? this.#parts.draws.below(this.size);
    for (let turn = 0; turn < this.size; turn += 1) {
      const { server } = this.#at(first + turn);
      if (server.isListening) return server.handle(request, signal);
    }
    throw new BrokenConnectionError('connect ECONNREFUSED');
  }
}
