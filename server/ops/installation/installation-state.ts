/**
 * Reads the state of the database, the data folder and the blob store that the settings name, each with its installation.
 *
 * Invariant: reading the state changes no file and no row, so that a refused start has changed nothing.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '@switchyard/runner/process/errors.ts';
import { sql } from 'kysely';
import {
  type BlobReader,
  formatMarker,
  type InstallationMarker,
  MARKER_FILE,
  parseMarker,
} from '../../platform/blobs/blob-store.ts';
import { describeBlobStore, openBlobReader } from '../../platform/blobs/open-blob-store.ts';
import type { IdentityTable } from '../../platform/blobs/schema.ts';
import { ConfigError, type StorageConfig } from '../../platform/config.ts';
import type { Database, Reader } from '../../platform/database/database.ts';
import { listOlderServers, type OlderServer } from '../../platform/database/maintenance/connected-servers.ts';
import { listTables, openPostgresSnapshot } from '../../platform/database/maintenance/snapshot-connection.ts';
import { openStoppedDatabase } from '../../platform/database/maintenance/stopped-database.ts';
import { findWalDamage, type WalDamage } from '../../platform/database/maintenance/wal-damage.ts';
import type { Migration } from '../../platform/database/migrate.ts';
import { sqlitePath } from '../../platform/database/open.ts';
import { errorMessage } from '../../platform/log.ts';
import { readMasterKey, writeFileDurably } from '../../platform/master-key.ts';
import { BASELINE, migrations } from '../migrations.ts';

/** Number of blob keys to sample from each end of the table, for a store without a marker. */
const BLOB_SAMPLE_SIZE = 8;
/** The first migration of every database from before the baseline. */
const UNRELEASED_MIGRATION = '0001-contents';
const KNOWN_MIGRATIONS = new Set(migrations.map(({ name }) => name));
/** Tables that exist before there is any data: those of Kysely, and the one that opening SQLite creates. */
const BOOKKEEPING_TABLES = new Set(['migrations', 'migrations_lock', 'opened']);
/** Files that only an installation with data has in its data folder. */
const INSTALLATION_FILES = ['switchyard.db', 'master-key', 'root-token', 'first-run.json'];
/** Folders that a start empties, so they must not belong to another program. */
const EMPTIED_FOLDERS = ['runner', 'spool', join('blobs', 'incoming')];
const SERVER_FILES = ['lock', MARKER_FILE, ...INSTALLATION_FILES];

interface DatabaseState {
  /** The name for messages, without a password. */
  name: string;
  /** `foreign`: it has tables of another program. `unreleased`: it is from before 0.2.0. `newer`: a newer release has migrated it. */
  state: 'empty' | 'foreign' | 'unreleased' | 'newer' | 'ours';
  /** The table or migration that proves the state. */
  detail: string;
  identity: IdentityTable | null;
  hasAccounts: boolean;
  keyCheck: string | null;
  /** Some keys of its blobs. */
  sampledBlobKeys: string[];
  /** Commits that SQLite drops because of damage in its WAL, or null. */
  walDamage: WalDamage | null;
  /** A migration that this start would apply and that earlier releases do not tolerate; null without one. */
  breakingMigration: Pick<Migration, 'name' | 'breaks'> | null;
  /** Servers and workers of an earlier release that are connected, if there is such a migration. */
  olderServers: readonly OlderServer[];
}

interface DataFolderState {
  path: string;
  installation: string | null;
  /** Names of files of an installation. */
  leftoverNames: string[];
  /** A folder of another program that a start would empty, or null. */
  foreignFolder: string | null;
  masterKey: Buffer | null;
}

interface BlobStoreState {
  name: string;
  marker: InstallationMarker | null;
  isEmpty: boolean;
  /** The number of sampled blobs of the database, and how many of them the store has. */
  sampledCount: number;
  foundCount: number;
}

/** The three parts of an installation. */
export interface InstallationState {
  database: DatabaseState;
  folder: DataFolderState;
  blobs: BlobStoreState;
}

/** Reads the state of all three parts; `openReader` opens the blobs. Throws ConfigError when the database or the blob store cannot be opened. */
export async function readInstallationState(
  config: StorageConfig,
  openReader: () => Promise<BlobReader> = () => openBlobReader(config),
): Promise<InstallationState> {
  // Reads the marker before the database, which gets its id first: other processes may start at the same time.
  const reader = await openReader();
  const marker = await reader.readMarker();
  const database = await readDatabase(config);
  const folder = await readFolder(config);
  const blobs = await readBlobStore(reader, marker, describeBlobStore(config), database);
  return { database, folder, blobs };
}

/** Returns the name of the database for messages. */
function describeDatabase({ postgres, data }: StorageConfig): string {
  if (!postgres) return `the SQLite database ${sqlitePath(data)}`;
  const { host, pathname } = new URL(postgres);
  return `the PostgreSQL database ${decodeURIComponent(pathname.slice(1))} at ${host}`;
}

async function readDatabase(config: StorageConfig): Promise<DatabaseState> {
  const name = describeDatabase(config);
  const empty: DatabaseState = {
    ...{ name, state: 'empty', detail: '', identity: null, hasAccounts: false, keyCheck: null },
    ...{ sampledBlobKeys: [], walDamage: null },
    ...{ breakingMigration: null, olderServers: [] },
  };
  if (config.postgres) {
    const connection = await openPostgresSnapshot(config.postgres);
    try {
      return { ...empty, ...(await inspectDatabase(connection)) };
    } catch (error) {
      throw new ConfigError(
        `SWITCHYARD_DATABASE names a database that cannot be opened: ${errorMessage(error).replace(/\.$/, '')}.`,
      );
    } finally {
      await connection.close();
    }
  }
  const path = sqlitePath(config.data);
  const walDamage = findWalDamage(path);
  const opened = await openStoppedDatabase(path);
  if (!opened) return { ...empty, walDamage };
  try {
    return { ...empty, ...(await inspectDatabase({ kind: 'sqlite', read: opened.read })), walDamage };
  } finally {
    await opened.close();
  }
}

async function inspectDatabase(database: Pick<Database, 'kind' | 'read'>): Promise<Partial<DatabaseState>> {
  const { read } = database;
  const tables = await listTables(database);
  const names = new Set(tables.map((table) => table.name));
  const migrationsTable = tables.find((table) => table.name === 'migrations');
  const isKysely = migrationsTable?.columns.some(({ name }) => name === 'timestamp') ?? false;
  const applied = isKysely
    ? (await sql<{ name: string }>`select name from migrations order by name`.execute(read)).rows.map(
        ({ name }) => name,
      )
    : [];
  const foreign = [...names].find(
    (one) => !BOOKKEEPING_TABLES.has(one) || (one === 'migrations' && !isKysely),
  );
  if (applied.includes(UNRELEASED_MIGRATION)) return { state: 'unreleased' };
  if (!applied.includes(BASELINE))
    return foreign === undefined && applied.length === 0
      ? {}
      : { state: 'foreign', detail: foreign ?? applied[0] ?? 'migrations' };
  const unknown = applied.find((name) => !KNOWN_MIGRATIONS.has(name));
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
    state: identity ? 'ours' : 'empty',
    identity: identity ?? null,
    hasAccounts: account !== undefined,
    keyCheck: check?.key_check ?? null,
    sampledBlobKeys: names.has('contents') ? await sampleBlobs(read) : [],
    ...(await findBreakingMigration(database, new Set(applied))),
  };
}

/** SQLite has one process, so no other can be connected. */
async function findBreakingMigration(
  { kind, read }: Pick<Database, 'kind' | 'read'>,
  applied: ReadonlySet<string>,
): Promise<Pick<DatabaseState, 'breakingMigration' | 'olderServers'>> {
  const breakingMigration = migrations.find(({ name, breaks }) => breaks && !applied.has(name)) ?? null;
  const isShared = kind === 'postgres' && breakingMigration !== null;
  return {
    breakingMigration,
    olderServers: isShared ? await listOlderServers(read, migrations.length) : [],
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

async function readFolder(config: StorageConfig): Promise<DataFolderState> {
  const path = config.data;
  const names = new Set(await listNames(path));
  const isServerFolder = SERVER_FILES.some((name) => names.has(name));
  const leftoverNames = INSTALLATION_FILES.filter(
    (name) => names.has(name) && (config.postgres || name !== 'switchyard.db'),
  );
  // With another blob store, blobs in the data folder are from an earlier configuration.
  const isElsewhere = (config.s3 ?? config.sharedBlobs) !== null;
  if (isElsewhere && (await listNames(join(path, 'blobs'))).some((name) => name !== 'incoming'))
    leftoverNames.push('blobs');
  let foreign: string | null = null;
  for (const name of isServerFolder ? [] : EMPTIED_FOLDERS)
    if ((await listNames(join(path, name))).length > 0) foreign ??= join(path, name);
  const marker = join(path, MARKER_FILE);
  const text = existsSync(marker) ? await readFile(marker, 'utf8') : null;
  return {
    path,
    installation: text === null ? null : parseMarker(text, marker).installation,
    leftoverNames,
    foreignFolder: foreign,
    masterKey: await readMasterKey(path, config.masterKey),
  };
}

/** Writes the id of the installation into the data folder. */
export async function writeFolderMarker(folder: string, installation: string): Promise<void> {
  const path = join(folder, MARKER_FILE);
  const text = formatMarker({ installation, generation: 0, mayBeEmpty: false });
  const before = await readFile(path, 'utf8').catch(() => '');
  if (before !== text) await writeFileDurably(path, text);
}

async function readBlobStore(
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

async function listNames(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  });
}
