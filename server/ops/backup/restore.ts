/**
 * Restores a backup of either database into an empty data folder, and into an empty PostgreSQL database and bucket where the
 * settings name them. It checks everything against the manifest before it writes. While it runs, a marker in the data folder
 * keeps servers from starting. The result is a new installation with an id of its own in database, data folder and blob
 * store. It therefore never shares a store with the server of the backup.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireFolderLock, FolderInUseError } from '@switchyard/worker/folder-lock.ts';
import { sql } from 'kysely';
import type { BlobStore } from '../../platform/blobs/blob-store.ts';
import { openDiskBlobReader } from '../../platform/blobs/disk.ts';
import { ensureIdentity } from '../../platform/blobs/identity.ts';
import { openBlobs } from '../../platform/blobs/open-blob-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { StorageConfig } from '../../platform/config.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import { RESTORE_MARKER_FILE } from '../../platform/database/folder-lock.ts';
import {
  listMigratedTables,
  listTables,
  setLastSequenceValue,
} from '../../platform/database/maintenance/snapshot-connection.ts';
import { migrate } from '../../platform/database/migrate.ts';
import { openDatabase } from '../../platform/database/open.ts';
import type { Log } from '../../platform/log.ts';
import { checkMasterKey, writeFileDurably } from '../../platform/master-key.ts';
import type { Random } from '../../platform/random.ts';
import { writeFolderMarker } from '../installation/installation-state.ts';
import { explainUnreleased } from '../installation/start-refusal.ts';
import { BASELINE, migrations } from '../migrations.ts';
import { BackupError } from './backup-error.ts';
import { readBlobList } from './blob-list.ts';
import { type CheckedBackup, checkBackup } from './check-backup.ts';
import { MASTER_KEY_FILE, type Manifest, type TableFile, tablePath } from './manifest.ts';
import { readRows } from './row-files.ts';

/** SQLite accepts 32,766 values in a statement, PostgreSQL 65,535. */
const VALUES_MAX = 30_000;
const ROWS_MAX = 500;
const LOCK_FILES = new Set(['lock', 'lock-journal']);
/** Tables of Kysely, and the table that opening SQLite creates: they exist before there is any data. */
const BOOKKEEPING_TABLES = new Set(['migrations', 'migrations_lock', 'opened']);

/** Restores the backup at the path. Throws BackupError for a problem that an operator can solve; then it has undone all writes. */
export async function restore(
  config: StorageConfig,
  path: string,
  parts: { clock: Clock; random: Random; log: Log },
): Promise<CheckedBackup> {
  const backup = await checkBackup(path, config.masterKey, { hashBlobs: false });
  await checkKnown(backup.manifest);
  await mkdir(config.data, { recursive: true, mode: 0o700 });
  const found = (await readdir(config.data)).find((name) => !LOCK_FILES.has(name));
  if (found !== undefined)
    throw new BackupError(
      `The data folder ${config.data} is not empty: it holds ${found}. Empty it, or set SWITCHYARD_DATA to another folder.`,
    );
  const lock = openLock(config.data);
  const undo: (() => Promise<void>)[] = [() => emptyFolder(config.data)];
  try {
    await writeFileDurably(join(config.data, RESTORE_MARKER_FILE), `${backup.folder}\n`);
    await restoreInto(config, backup, undo, parts);
    await rm(join(config.data, RESTORE_MARKER_FILE));
    return backup;
  } catch (error) {
    for (const one of undo.reverse()) await one();
    throw error;
  } finally {
    lock.release();
  }
}

function openLock(folder: string): { release(): void } {
  try {
    return acquireFolderLock(folder, `The data folder ${folder} is in use. Stop the server that uses it.`);
  } catch (error) {
    throw error instanceof FolderInUseError ? new BackupError(error.message) : error;
  }
}

async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (!LOCK_FILES.has(name)) await rm(join(folder, name), { recursive: true });
}

/** Writes blobs, files and rows. Adds to `undo` what reverts the writes outside of the data folder. */
async function restoreInto(
  config: StorageConfig,
  backup: CheckedBackup,
  undo: (() => Promise<void>)[],
  { clock, random, log }: { clock: Clock; random: Random; log: Log },
): Promise<void> {
  const { manifest, masterKey, folder } = backup;
  const database = await openDatabase(config, log);
  try {
    await checkEmpty(database);
    const blobs = await openBlobs(config, `restore-${randomUUID()}`, clock);
    await checkNoBlobs(blobs);
    await copyBlobs(backup, blobs, undo);
    for (const { name } of manifest.files) {
      if (name === MASTER_KEY_FILE && config.masterKey) continue;
      await writeFileDurably(join(config.data, name), await readFile(join(folder, name)));
    }
    const names = new Set(manifest.migrations);
    await migrate(
      database,
      migrations.filter(({ name }) => names.has(name)),
    );
    await database.transact(async (tx) => {
      for (const table of manifest.tables) await insertRows(tx, table, tablePath(folder, table.name));
      for (const number of manifest.numbers) await setLastSequenceValue(database.kind, tx, number);
    });
    await checkMasterKey(database, masterKey);
    const row = await ensureIdentity(database, { random, seenAt: clock.now() });
    undo.push(() => blobs.removeMarker());
    await blobs.writeMarker(
      { installation: row.id, generation: row.generation, mayBeEmpty: false },
      { isFirst: true },
    );
    await writeFolderMarker(config.data, row.id);
  } finally {
    await database.close();
  }
}

async function checkKnown(manifest: Manifest): Promise<void> {
  if (!manifest.migrations.includes(BASELINE)) throw new BackupError(explainUnreleased('The backup'));
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = manifest.migrations.find((name) => !known.has(name));
  if (unknown !== undefined)
    throw new BackupError(
      `The backup is of a newer release, whose migration ${unknown} this release does not know. Restore it with that release.`,
    );
  const names = new Set(manifest.migrations);
  const tables = await listMigratedTables(migrations.filter(({ name }) => names.has(name)));
  const columnsOfNumbers = manifest.numbers.map(({ table, column }) => ({ name: table, columns: [column] }));
  for (const { name, columns } of [...manifest.tables, ...columnsOfNumbers]) {
    const table = tables.find((one) => one.name === name);
    const column = columns.find((one) => !table?.columns.some((other) => other.name === one));
    if (!table || column !== undefined)
      throw new BackupError(
        `The backup has ${table ? `the column ${column} of ` : ''}the table ${name}, which this release does not know. Restore it with the release that made it.`,
      );
  }
}

async function checkEmpty(database: Database): Promise<void> {
  for (const { name } of await listTables(database)) {
    if (BOOKKEEPING_TABLES.has(name)) continue;
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(database.read);
    if (rows.length > 0)
      throw new BackupError(
        `The database is not empty: its table ${name} has rows. Restore into an empty database.`,
      );
  }
}

/** Throws BackupError when the blob store has blobs: a bucket or a shared folder may belong to another installation. */
async function checkNoBlobs(blobs: BlobStore): Promise<void> {
  const marker = await blobs.readMarker();
  if (marker)
    throw new BackupError(
      `The blob store of SWITCHYARD_BLOBS belongs to the installation ${marker.installation}. Set another bucket, folder or prefix.`,
    );
  for await (const key of blobs.list(Number.POSITIVE_INFINITY))
    throw new BackupError(
      `The bucket of SWITCHYARD_BLOBS is not empty under its prefix: it holds ${key}. Empty it, or set another prefix.`,
    );
}

async function copyBlobs(
  { folder, blobsFolder: storedBlobs }: CheckedBackup,
  blobs: BlobStore,
  undo: (() => Promise<void>)[],
): Promise<void> {
  const source = openDiskBlobReader(storedBlobs);
  const put: string[] = [];
  undo.push(async () => {
    for (const key of put) await blobs.remove(key);
  });
  for await (const { key, sha256, bytes } of readBlobList(folder)) {
    put.push(key);
    const stored = await blobs.put(key, await source.open(sha256), bytes);
    if (stored.sha256 !== sha256)
      throw new BackupError(`The blob ${sha256} of the backup was changed: its content has another hash.`);
  }
}

/** Inserts the rows of a file into the empty table, and compares their number with the manifest. */
async function insertRows(tx: Writer, table: TableFile, path: string): Promise<void> {
  const name = sql.table(table.name);
  const columns = sql.join(table.columns.map((column) => sql.ref(column)));
  const batchSize = Math.min(ROWS_MAX, Math.floor(VALUES_MAX / table.columns.length));
  // Rows that migrations inserted are in the backup too, in their latest state.
  await sql`delete from ${name}`.execute(tx);
  const insert = async (rows: unknown[][]): Promise<void> => {
    const values = sql.join(rows.map((row) => sql`(${sql.join(row)})`));
    await sql`insert into ${name} (${columns}) values ${values}`.execute(tx);
  };
  let batch: unknown[][] = [];
  for await (const row of readRows(path)) {
    if (batch.push(row) < batchSize) continue;
    await insert(batch);
    batch = [];
  }
  if (batch.length > 0) await insert(batch);
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${name}`.execute(tx);
  if (Number(rows[0]?.count) !== table.rows)
    throw new BackupError(
      `The table ${table.name} has ${rows[0]?.count} rows after the restore; the backup has ${table.rows}.`,
    );
}
