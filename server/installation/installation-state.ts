/**
 * What the settings point to: the database, the data folder and the blob store, each with the installation it belongs to.
 * Everything here only reads, and leaves no trace on a file system, so that a start that is refused has changed nothing.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { readMasterKey, writeFileDurably } from '../account/master-key.ts';
import {
  type BlobReader,
  formatMarker,
  type InstallationMarker,
  MARKER_FILE,
  parseMarker,
} from '../blobs/blob-store.ts';
import { describeBlobStore, openBlobReader } from '../blobs/open-blob-store.ts';
import type { IdentityTable } from '../blobs/schema.ts';
import { type Config, ConfigError } from '../config.ts';
import type { Database, Reader } from '../database/database.ts';
import { listTables, openPostgresSnapshot } from '../database/maintenance/snapshot-connection.ts';
import { openStoppedDatabase } from '../database/maintenance/stopped-database.ts';
import { countDroppedCommits } from '../database/maintenance/wal-damage.ts';
import { sqlitePath } from '../database/open.ts';
import { errorMessage } from '../log.ts';
import { migrations } from '../migrations.ts';

/** How many of the blobs that an unmarked database names are looked for. */
const BLOB_SAMPLE_SIZE = 8;
const FIRST_MIGRATION = migrations.map(({ name }) => name).sort()[0] ?? '';
const KNOWN = new Set(migrations.map(({ name }) => name));
/** Tables that stand in a database before there is any data, by Kysely and by `connect`. */
const BOOKKEEPING_TABLES = new Set(['migrations', 'migrations_lock', 'opened']);
/** Files that only an installation with data leaves in its data folder. */
const INSTALLATION_FILES = ['switchyard.db', 'master-key', 'root-token', 'first-run.json'];
/** Folders that are emptied at a start, which must not be anybody else's. */
const EMPTIED_FOLDERS = ['runner', 'spool', join('blobs', 'incoming')];
const SERVER_FILES = ['lock', MARKER_FILE, ...INSTALLATION_FILES];

interface DatabaseState {
  /** As a message names it, without a password. */
  name: string;
  /** `foreign`: it has tables of another program. `newer`: a newer release has changed it. */
  state: 'empty' | 'foreign' | 'newer' | 'ours';
  /** The table or migration that tells. */
  detail: string;
  identity: IdentityTable | null;
  /** Whether there is an account in it. */
  hasAccounts: boolean;
  keyCheck: string | null;
  /** Some of the blobs that it names. */
  sampledBlobKeys: string[];
  /** The latest instant in a database without an identity; null when there is none. */
  lastSeenAt: number | null;
  /** Commits behind damage in SQLite's log, which SQLite drops. */
  droppedCommits: number;
}

interface DataFolderState {
  path: string;
  installation: string | null;
  /** Names of what an installation left in it. */
  leftoverNames: string[];
  /** A folder of another program that a start would empty, or null. */
  foreignFolder: string | null;
  masterKey: Buffer | null;
}

interface BlobStoreState {
  name: string;
  marker: InstallationMarker | null;
  isEmpty: boolean;
  /** How many of the blobs that the database names were looked for, and found. */
  sampledCount: number;
  foundCount: number;
}

export interface InstallationState {
  database: DatabaseState;
  folder: DataFolderState;
  blobs: BlobStoreState;
}

export async function readInstallationState(config: Config): Promise<InstallationState> {
  // Before the database, which gets its id first: other processes of the installation may begin at the same time.
  const reader = await openBlobReader(config);
  const marker = await reader.readMarker();
  const database = await readDatabase(config);
  const folder = await readFolder(config);
  const blobs = await readBlobsSide(reader, marker, describeBlobStore(config), database);
  return { database, folder, blobs };
}

/** As a message names it. */
function describeDatabase({ postgres, data }: Config): string {
  if (!postgres) return `the SQLite database ${sqlitePath(data)}`;
  const { host, pathname } = new URL(postgres);
  return `the PostgreSQL database ${decodeURIComponent(pathname.slice(1))} at ${host}`;
}

async function readDatabase(config: Config): Promise<DatabaseState> {
  const name = describeDatabase(config);
  const empty: DatabaseState = {
    ...{ name, state: 'empty', detail: '', identity: null, hasAccounts: false, keyCheck: null },
    ...{ sampledBlobKeys: [], lastSeenAt: null, droppedCommits: 0 },
  };
  if (config.postgres) {
    const beside = await openPostgresSnapshot(config.postgres);
    try {
      return { ...empty, ...(await describe(beside)) };
    } catch (error) {
      throw new ConfigError(
        `SWITCHYARD_DATABASE names a database that cannot be opened: ${errorMessage(error).replace(/\.$/, '')}.`,
      );
    } finally {
      await beside.close();
    }
  }
  const path = sqlitePath(config.data);
  const droppedCommits = countDroppedCommits(`${path}-wal`);
  const opened = await openStoppedDatabase(path);
  if (!opened) return { ...empty, droppedCommits };
  try {
    return { ...empty, ...(await describe({ kind: 'sqlite', read: opened.read })), droppedCommits };
  } finally {
    await opened.close();
  }
}

async function describe(database: Pick<Database, 'kind' | 'read'>): Promise<Partial<DatabaseState>> {
  const { read } = database;
  const tables = await listTables(database);
  const names = new Set(tables.map((table) => table.name));
  const books = tables.find((table) => table.name === 'migrations');
  const isKysely = books?.columns.some(({ name }) => name === 'timestamp') ?? false;
  const applied = isKysely
    ? (await sql<{ name: string }>`select name from migrations`.execute(read)).rows
    : [];
  const foreign = [...names].find(
    (one) => !BOOKKEEPING_TABLES.has(one) || (one === 'migrations' && !isKysely),
  );
  if (!applied.some(({ name }) => name === FIRST_MIGRATION))
    return foreign === undefined && applied.length === 0
      ? {}
      : { state: 'foreign', detail: foreign ?? applied[0]?.name ?? 'migrations' };
  const unknown = applied
    .map(({ name }) => name)
    .sort()
    .find((name) => !KNOWN.has(name));
  if (unknown !== undefined) return { state: 'newer', detail: unknown };
  const rows = async <T>(table: string, select: ReturnType<typeof sql<T>>): Promise<T[]> =>
    names.has(table) ? (await select.execute(read)).rows : [];
  const [identity] = await rows(
    'installation_identity',
    sql<IdentityTable>`select * from installation_identity`,
  );
  const [check] = await rows('installation', sql<{ key_check: string }>`select key_check from installation`);
  const [account] = await rows('accounts', sql`select 1 from accounts limit 1`);
  return {
    state: identity || account ? 'ours' : 'empty',
    identity: identity ?? null,
    hasAccounts: account !== undefined,
    keyCheck: check?.key_check ?? null,
    sampledBlobKeys: names.has('contents') ? await sampleBlobs(read) : [],
    lastSeenAt: identity || !account ? null : await latestInstant(read, names),
  };
}

async function sampleBlobs(read: Reader): Promise<string[]> {
  const keys = async (order: 'asc' | 'desc'): Promise<string[]> => {
    const named = read.selectFrom('contents').select('blob_key').where('blob_key', 'is not', null);
    const rows = await named.orderBy('blob_key', order).limit(BLOB_SAMPLE_SIZE).execute();
    return rows.flatMap(({ blob_key }) => blob_key ?? []);
  };
  return [...new Set([...(await keys('asc')), ...(await keys('desc'))])];
}

/** When an installation of an earlier release was last at work, as far as its rows tell. */
async function latestInstant(read: Reader, names: ReadonlySet<string>): Promise<number | null> {
  let latest: number | null = null;
  for (const [table, column] of [
    ['accounts', 'created_at'],
    ['keys', 'last_used_at'],
    ['uploads', 'created_at'],
    ['runs', 'created_at'],
    ['run_events', 'at'],
  ] as const) {
    if (!names.has(table)) continue;
    const { rows } = await sql<{
      at: number | null;
    }>`select max(${sql.ref(column)}) as at from ${sql.table(table)}`.execute(read);
    const at = rows[0]?.at ?? null;
    if (at !== null) latest = Math.max(latest ?? 0, Number(at));
  }
  return latest;
}

async function readFolder(config: Config): Promise<DataFolderState> {
  const path = config.data;
  const names = new Set(await namesIn(path));
  const isOurs = SERVER_FILES.some((name) => names.has(name));
  const holds = INSTALLATION_FILES.filter(
    (name) => names.has(name) && (config.postgres || name !== 'switchyard.db'),
  );
  // Where blobs are kept elsewhere, those of the data folder are of a time before.
  const isElsewhere = (config.s3 ?? config.sharedBlobs) !== null;
  if (isElsewhere && (await namesIn(join(path, 'blobs'))).some((name) => name !== 'incoming'))
    holds.push('blobs');
  let foreign: string | null = null;
  for (const name of isOurs ? [] : EMPTIED_FOLDERS)
    if ((await namesIn(join(path, name))).length > 0) foreign ??= join(path, name);
  const marker = join(path, MARKER_FILE);
  const text = existsSync(marker) ? await readFile(marker, 'utf8') : null;
  return {
    path,
    installation: text === null ? null : parseMarker(text, marker).installation,
    leftoverNames: holds,
    foreignFolder: foreign,
    masterKey: await readMasterKey(path, config.masterKey),
  };
}

/** Notes in the data folder which installation it belongs to. */
export async function writeFolderMarker(folder: string, installation: string): Promise<void> {
  const path = join(folder, MARKER_FILE);
  const text = formatMarker({ installation, generation: 0, mayBeEmpty: false });
  const before = await readFile(path, 'utf8').catch(() => '');
  if (before !== text) await writeFileDurably(path, text);
}

async function readBlobsSide(
  blobs: BlobReader,
  marker: InstallationMarker | null,
  name: string,
  database: DatabaseState,
): Promise<BlobStoreState> {
  let isEmpty = true;
  for await (const _ of blobs.list(Number.POSITIVE_INFINITY)) {
    isEmpty = false;
    break;
  }
  const sampled = marker === null && !isEmpty ? database.sampledBlobKeys : [];
  let found = 0;
  for (const key of sampled) if (await blobs.stat(key)) found += 1;
  return { name, marker, isEmpty, sampledCount: sampled.length, foundCount: found };
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
}
