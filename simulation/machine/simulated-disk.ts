/**
 * The disk of a simulated server with SQLite. The files are real, in memory. What a power cut leaves of them follows from the
 * syncs that have ended: of the bytes that no sync covers, any sector may be there or missing.
 *
 * Only the log of the database has such bytes. A checkpoint syncs the log before it writes the database file.
 */
import {
  closeSync,
  copyFileSync,
  cpSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Database } from '../../server/platform/database/database.ts';
import { sqlitePath } from '../../server/platform/database/open.ts';
import { openCheckpoint } from '../../server/platform/database/sqlite/checkpoint.ts';
import { WAL_BYTES } from '../../server/platform/database/sqlite/checkpoints.ts';
import { openSqlite, openSqliteConnection } from '../../server/platform/database/sqlite/sqlite.ts';
import { readWalHeader } from '../../server/platform/database/sqlite/wal-frames.ts';
import type { Draws } from '../kernel/draws.ts';
import type { SimulatedProcess } from '../kernel/simulated-process.ts';
import type { ObservedConnection } from '../model/observer.ts';

const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SECTOR_BYTES = 512;
/** The file beside the database that names the acknowledged end of its log; it is never synced. */
const POSITION_SUFFIX = '-acknowledged';
/** Positions among which a power cut chooses: the pages of that small file reach the disk within seconds. */
const POSITIONS_MAX = 4;

/** The end of a log. */
interface LogEnd {
  salt: string;
  frames: number;
}

/** How a process ends: alone, or with its machine. */
export type CrashKind = 'kill' | 'power';

/** The present faults of a disk. */
export interface DiskFaults {
  /** Multiplies the time of each sync. */
  slowness: number;
  /** Each sync fails with an error of the disk. */
  failsSyncs: boolean;
}

/** What one process holds of the disk. */
interface Opened {
  path: string;
  writer: DatabaseSync;
  connections: DatabaseSync[];
  checkpoint: ReturnType<typeof openCheckpoint> | null;
  /** The descriptor of the log, once a sync has named it. */
  log: number | null;
  pageBytes: number;
}

/** The disk with the data folder of one server. */
export class SimulatedDisk {
  readonly #root: string;
  readonly #draws: Draws;
  readonly #usualSyncMs: number;
  readonly faults: DiskFaults = { slowness: 1, failsSyncs: false };
  #folders = 0;
  #folder: string;
  #opened: Opened | null = null;
  #synced: LogEnd[] = [];
  /** What the file with the acknowledged position has had lately, in the order of its writes. */
  #positions: string[] = [];
  #observer: ObservedConnection | null = null;
  #observing: DatabaseSync | null = null;
  #version = 0;
  #countChanges: StatementSync | null = null;
  syncs = 0;

  /** `root` is an empty folder in memory. */
  constructor(root: string, draws: Draws) {
    this.#root = root;
    this.#draws = draws;
    this.#usualSyncMs = draws.between(0.2, 8);
    this.#folder = this.#createFolder();
  }

  get folder(): string {
    return this.#folder;
  }

  /** A connection that reads the last commit. */
  get observer(): ObservedConnection {
    if (this.#observer) return this.#observer;
    const connection = new DatabaseSync(sqlitePath(this.#folder));
    this.#observing = connection;
    this.#observer = {
      prepare: (sql) => connection.prepare(sql),
      readVersion: () => this.#readVersion(),
    };
    return this.#observer;
  }

  /** Asks the only connection that writes, because `pragma data_version` reads the file. */
  #readVersion(): number {
    const writer = this.#opened?.writer;
    if (!writer?.isOpen || writer.isTransaction) return this.#version;
    this.#countChanges ??= writer.prepare('select total_changes() as changes');
    this.#version = Number(this.#countChanges.get()?.changes);
    return this.#version;
  }

  #createFolder(): string {
    this.#folders += 1;
    const folder = join(this.#root, String(this.#folders));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  /** Puts a copy of a stopped data folder on the empty disk. */
  load(folder: string): void {
    cpSync(folder, this.#folder, { recursive: true });
  }

  /** Opens the database for a process. */
  openDatabase(owner: SimulatedProcess): Database {
    const path = sqlitePath(this.#folder);
    this.stopObserving();
    prepareLog(path);
    const connections: DatabaseSync[] = [];
    const database = openSqlite(path, {
      clock: owner.clock,
      connect(at) {
        const connection = openSqliteConnection(at);
        connections.push(connection);
        return connection;
      },
      startCheckpointer: () => ({
        checkpoint: () => this.#runCheckpoint(),
        stop: async () => closeCheckpoint(this.#opened),
      }),
      sync: (log, done) => this.#sync(owner, log, done),
    });
    const [writer] = connections;
    if (!writer) throw new Error('The database opened no connection.');
    const pageBytes = Number(writer.prepare('pragma page_size').get()?.page_size);
    this.#opened = { path, writer, connections, checkpoint: null, log: null, pageBytes };
    // The start syncs the log.
    const end = this.#readEnd();
    this.#synced = end ? [end] : [];
    this.#notePosition();
    return database;
  }

  /** From now on the database cannot grow by more than the pages; null: it can. */
  limitGrowth(pages: number | null): void {
    if (!this.#opened) return;
    const { writer } = this.#opened;
    const used = Number(writer.prepare('pragma page_count').get()?.page_count);
    writer.exec(`pragma max_page_count = ${pages === null ? 1_000_000 : used + pages}`);
  }

  #runCheckpoint(): Promise<void> {
    const opened = this.#opened;
    if (!opened) return Promise.resolve();
    const { path } = opened;
    opened.checkpoint ??= openCheckpoint(path, WAL_BYTES);
    // It syncs the log itself.
    const end = this.#readEnd();
    try {
      opened.checkpoint.run();
      if (end) this.#synced.push(end);
    } catch {
      // The thread of the product answers as well.
    }
    return Promise.resolve();
  }

  #sync(owner: SimulatedProcess, log: number, done: (error: Error | null) => void): void {
    if (this.#opened) this.#opened.log = log;
    const end = this.#readEnd();
    const { slowness, failsSyncs } = this.faults;
    this.#notePosition();
    this.syncs += 1;
    owner.after(this.#draws.duration(this.#usualSyncMs) * slowness, '', () => {
      if (failsSyncs) {
        done(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO', syscall: 'fdatasync' }));
        return;
      }
      if (end) this.#synced.push(end);
      if (this.#synced.length > POSITIONS_MAX) this.#synced.shift();
      done(null);
      this.#notePosition();
    });
  }

  /** The file is never synced, so a power cut leaves any of its latest contents. */
  #notePosition(): void {
    const path = `${sqlitePath(this.#folder)}${POSITION_SUFFIX}`;
    if (!statSync(path, { throwIfNoEntry: false })) return;
    const position = readFileSync(path, 'latin1');
    if (position === this.#positions.at(-1)) return;
    this.#positions.push(position);
    if (this.#positions.length > POSITIONS_MAX) this.#positions.shift();
  }

  #readEnd(): LogEnd | null {
    if (!this.#opened?.writer.isOpen) return null;
    const { path, writer } = this.#opened;
    const file = openSync(`${path}-wal`, 'r');
    try {
      const header = readWalHeader(file);
      const { log } = writer.prepare('pragma wal_checkpoint(noop)').get() ?? {};
      return header && { salt: header.salt.toString('hex'), frames: Number(log) };
    } finally {
      closeSync(file);
    }
  }

  /** The process has closed its database. */
  release(): void {
    this.stopObserving();
    this.#opened = null;
    this.#synced = [];
    this.#positions = [];
  }

  /** Closes the connection of the observer. A process that stops moves the log into the database when no other reads it. */
  stopObserving(): void {
    this.#observing?.close();
    this.#observing = null;
    this.#observer = null;
    this.#countChanges = null;
  }

  /** Ends the process that has the database open. The next one finds what is left of its files. */
  crash(kind: CrashKind): void {
    const opened = this.#opened;
    const before = this.#folder;
    const end = this.#readEnd();
    const after = this.#createFolder();
    const name = 'switchyard.db';
    // A process that has not opened the database, or has closed it, leaves it as it is.
    const isOpen = opened?.writer.isOpen === true;
    const left = isOpen ? `${name}-` : `${name}-shm`;
    for (const entry of readdirSync(before))
      if (!entry.startsWith(left) && entry !== 'remote-results')
        cpSync(join(before, entry), join(after, entry), { recursive: true });
    if (isOpen && end) this.#copyLog(opened, end, join(after, name), kind);
    this.stopObserving();
    if (opened) closeAll(opened);
    rmSync(before, { recursive: true, force: true });
    this.#folder = after;
    this.#opened = null;
  }

  #copyLog({ path, pageBytes }: Opened, end: LogEnd, to: string, kind: CrashKind): void {
    const frameBytes = FRAME_HEADER_BYTES + pageBytes;
    const locate = (frames: number): number => WAL_HEADER_BYTES + frames * frameBytes;
    const bytes = Buffer.alloc(locate(end.frames));
    const from = openSync(`${path}-wal`, 'r');
    readSync(from, bytes, 0, bytes.length, 0);
    closeSync(from);
    const last = this.#synced.findLast(({ salt }) => salt === end.salt);
    if (kind === 'power') this.#tear(bytes, locate(last?.frames ?? 0));
    writeFileSync(`${to}-wal`, bytes);
    if (kind === 'kill' && statSync(`${path}${POSITION_SUFFIX}`, { throwIfNoEntry: false }))
      copyFileSync(`${path}${POSITION_SUFFIX}`, `${to}${POSITION_SUFFIX}`);
    this.#notePosition();
    if (kind === 'power' && this.#positions.length > 0)
      writeFileSync(`${to}${POSITION_SUFFIX}`, this.#draws.pick(this.#positions), 'latin1');
  }

  /** Loses sectors behind the position: all of them, the last ones, or any. */
  #tear(bytes: Buffer, synced: number): void {
    const from = Math.ceil(synced / SECTOR_BYTES) * SECTOR_BYTES;
    const keeps = this.#draws.pick([0, 0.5, 0.95, 1]);
    const end = this.#draws.happens(0.5) ? bytes.length : Math.floor(this.#draws.between(from, bytes.length));
    for (let at = from; at < bytes.length; at += SECTOR_BYTES)
      if (at >= end || !this.#draws.happens(keeps))
        bytes.fill(0, at, Math.min(bytes.length, at + SECTOR_BYTES));
  }

  /** Removes all files. */
  close(): void {
    this.stopObserving();
    rmSync(this.#root, { recursive: true, force: true });
  }
}

function closeCheckpoint(opened: Opened | null): void {
  opened?.checkpoint?.close();
  if (opened) opened.checkpoint = null;
}

/** Closes what a dead process had open, as its end would. */
function closeAll(opened: Opened): void {
  // A database that was closed has closed its log before, and the number of its descriptor may be that of another file.
  const { log } = opened;
  if (opened.writer.isOpen && log !== null) closeSync(log);
  closeCheckpoint(opened);
  for (const connection of opened.connections) if (connection.isOpen) connection.close();
}

/** Gives the log its length as a hole: the server would fill it with 32 MiB of zeros at each start. */
function prepareLog(path: string): void {
  const log = openSync(`${path}-wal`, statSync(`${path}-wal`, { throwIfNoEntry: false }) ? 'r+' : 'w+');
  const { size } = statSync(`${path}-wal`);
  if (size < WAL_BYTES) ftruncateSync(log, WAL_BYTES);
  closeSync(log);
}
