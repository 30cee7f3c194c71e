/**
 * Makes a backup of a server while it runs: a hold on the blobs, then every table as it was at one instant, then the blobs
 * that it names and the place does not have yet, then the manifest. The hold is put off once a minute; when it has ended
 * all the same, as of a process that was asleep, blobs may be missing and there is no backup.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkMasterKey, loadOrCreateMasterKey, writeFileDurably } from '../account/master-key.ts';
import { acquireBackupHold, releaseBackupHold, renewBackupHold } from '../blobs/backup-holds.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { openBlobReader } from '../blobs/open-blob-store.ts';
import { type Clock, formatRfc3339 } from '../clock.ts';
import type { Config } from '../config.ts';
import { FolderInUseError, IncompleteRestoreError, lockDataFolder } from '../database/folder-lock.ts';
import {
  appliedMigrations,
  listMigratedTables,
  listTables,
  openPostgresSnapshot,
  openSqliteSnapshot,
  readLastSequenceValue,
  type SnapshotConnection,
} from '../database/maintenance/snapshot-connection.ts';
import { sqlitePath } from '../database/open.ts';
import { errorMessage } from '../log.ts';
import { migrations } from '../migrations.ts';
import { makeId, type Random } from '../random.ts';
import { BackupError } from './backup-error.ts';
import { type BackupFolder, openBackupFolder } from './backup-folder.ts';
import { type ListedBlob, readBlobList, writeBlobList } from './blob-list.ts';
import {
  DATA_FOLDER_FILES,
  hashFile,
  MASTER_KEY_FILE,
  type Manifest,
  type TableFile,
  tablePath,
  writeManifest,
} from './manifest.ts';
import { writeRows } from './row-files.ts';

const RENEW_INTERVAL_MS = 60_000;
/** Rows of the processes that run now, Kysely's own books, and the id of the installation: a restore makes another one. */
const EXCLUDED_TABLES = new Set([
  ...['workers', 'backup_holds', 'installation_identity'],
  ...['opened', 'migrations', 'migrations_lock'],
]);
const REPORTED_DAMAGE_MAX = 10;
const MIGRATION_NAMES = migrations.map(({ name }) => name).sort();

export interface BackupResult {
  folder: string;
  manifest: Manifest;
  /** Of the blobs, those that the place did not have. */
  copied: { count: number; bytes: number };
  /** How many older backups were removed. */
  removedBackups: number;
}

interface Asked {
  folder: string;
  withoutKey: boolean;
  /** How many backups stay in the folder, this one included; null: all. */
  keep: number | null;
}

/** Throws BackupError for what an operator can put right. */
export async function createBackup(
  config: Config,
  asked: Asked,
  { clock, random }: { clock: Clock; random: Random },
): Promise<BackupResult> {
  if (asked.withoutKey && !config.masterKey)
    throw new BackupError(
      'The master key lies in the data folder only, so a backup without it could never be read; leave out --without-key, or keep the key elsewhere and set SWITCHYARD_KEY.',
    );
  const release = keepStopped(config);
  const place = await openBackupFolder(asked.folder).catch((error: unknown) => {
    release();
    throw error instanceof FolderInUseError ? new BackupError(error.message) : error;
  });
  try {
    const database = await openBeside(config);
    try {
      await checkRelease(database);
      const masterKey = await readMasterKey(config, database, random);
      const hold = await holdBlobs(database, clock, random);
      try {
        const taken = clock.now();
        const written = await writeTables(database, place.incoming);
        const copied = await copyBlobs(place, await openBlobReader(config));
        const files = await copyFiles(config, place.incoming, asked.withoutKey ? null : masterKey);
        await hold.check();
        const manifest: Manifest = {
          format: 1,
          taken_at: formatRfc3339(taken),
          database: database.kind,
          migrations: MIGRATION_NAMES,
          ...written,
          files,
        };
        await writeManifest(place.incoming, manifest, masterKey);
        const folder = await place.finish(taken);
        const removed = asked.keep === null ? 0 : await place.prune(asked.keep);
        return { folder, manifest, copied, removedBackups: removed };
      } finally {
        await hold.drop();
      }
    } finally {
      await database.close();
    }
  } finally {
    await place.close();
    release();
  }
}

/**
 * While no server runs on a SQLite data folder, none may start: it takes the WAL for its own to lengthen. Where one runs,
 * its lock does that.
 */
function keepStopped(config: Config): () => void {
  if (config.postgres) return () => {};
  const path = sqlitePath(config.data);
  if (!existsSync(path))
    throw new BackupError(
      `There is no database at ${path}; set SWITCHYARD_DATA to the server's data folder.`,
    );
  try {
    const lock = lockDataFolder(config.data);
    return () => lock.release();
  } catch (error) {
    if (error instanceof IncompleteRestoreError) throw new BackupError(error.message);
    if (error instanceof FolderInUseError) return () => {};
    throw error;
  }
}

async function openBeside({ postgres, data }: Config): Promise<SnapshotConnection> {
  return postgres ? openPostgresSnapshot(postgres) : openSqliteSnapshot(sqlitePath(data));
}

/** The tables have to be those that this release knows, or the backup would say less than it seems to. */
async function checkRelease(database: SnapshotConnection): Promise<void> {
  const applied = await appliedMigrations(database);
  if (applied.length === 0)
    throw new BackupError('The database has no tables of Switchyard; start the server on it once first.');
  if (applied.join() !== MIGRATION_NAMES.join())
    throw new BackupError(
      'The database is that of another release; make the backup with the release that the server runs.',
    );
}

async function readMasterKey(config: Config, database: SnapshotConnection, random: Random): Promise<Buffer> {
  const path = join(config.data, MASTER_KEY_FILE);
  if (!config.masterKey && !existsSync(path))
    throw new BackupError(`There is no master key: neither is SWITCHYARD_KEY set nor is there ${path}.`);
  const key = await loadOrCreateMasterKey(config.data, config.masterKey, random);
  await checkMasterKey({ read: database.read, transact: (work) => database.write(work) }, key);
  return key;
}

interface Hold {
  /** Throws BackupError when the hold has ended before this. */
  check(): Promise<void>;
  drop(): Promise<void>;
}

async function holdBlobs(database: SnapshotConnection, clock: Clock, random: Random): Promise<Hold> {
  const id = makeId<string>(random, 'hold');
  await database.write((tx) => acquireBackupHold(tx, id, clock.now()));
  let underWay = Promise.resolve(true);
  const renew = (): Promise<boolean> => {
    underWay = underWay.then(
      (stands) => stands && database.write((tx) => renewBackupHold(tx, id, clock.now())),
    );
    return underWay;
  };
  let stop = (): void => {};
  const renewLater = (): void => {
    stop = clock.after(RENEW_INTERVAL_MS, () => {
      // Whoever asks next is told what became of it.
      renew().catch(() => {});
      renewLater();
    });
  };
  renewLater();
  return {
    async check() {
      if (!(await renew()))
        throw new BackupError(
          'The backup was held up for so long that blobs it names may be gone; make another.',
        );
    },
    async drop() {
      stop();
      await underWay.catch(() => {});
      await database.write((tx) => releaseBackupHold(tx, id));
    },
  };
}

async function writeTables(
  database: SnapshotConnection,
  folder: string,
): Promise<Pick<Manifest, 'tables' | 'numbers' | 'blobs'>> {
  const known = new Set((await listMigratedTables(migrations)).map(({ name }) => name));
  const found = (await listTables(database)).filter(
    ({ name }) => known.has(name) && !EXCLUDED_TABLES.has(name),
  );
  const snapshot = await database.snapshot();
  try {
    const tables: TableFile[] = [];
    for (const { name, columns } of found) {
      const names = columns.map((column) => column.name);
      const list = names.map((column) => `"${column}"`).join(', ');
      const source = snapshot.readRows(`select ${list} from "${name}"`);
      tables.push({ name, columns: names, ...(await writeRows(tablePath(folder, name), names, source)) });
    }
    const listed = await writeBlobList(folder, snapshot);
    const numbers: Manifest['numbers'] = [];
    for (const { name: table, columns } of found)
      for (const { name: column } of columns.filter((one) => one.isAutoIncrementing))
        numbers.push({ table, column, last: await readLastSequenceValue(database, table, column) });
    return { tables, numbers, blobs: { count: listed.rows, sha256: listed.sha256 } };
  } finally {
    await snapshot.close();
  }
}

async function copyBlobs(
  place: BackupFolder,
  source: Pick<BlobStore, 'open'>,
): Promise<BackupResult['copied']> {
  const copied = { count: 0, bytes: 0 };
  const damaged: string[] = [];
  for await (const blob of readBlobList(place.incoming)) {
    if (place.hasBlob(blob.sha256)) continue;
    const trouble = await copyBlob(place, source, blob);
    if (trouble === null) {
      copied.count += 1;
      copied.bytes += blob.bytes;
    } else if (damaged.push(trouble) === REPORTED_DAMAGE_MAX) break;
  }
  if (damaged.length > 0)
    throw new BackupError(
      `There is no backup, because blobs that the database names cannot be copied:\n${damaged.map((one) => `  ${one}`).join('\n')}`,
    );
  return copied;
}

/** Answers what is wrong with the blob, or null. */
async function copyBlob(
  place: BackupFolder,
  source: Pick<BlobStore, 'open'>,
  blob: ListedBlob,
): Promise<string | null> {
  try {
    const stored = await place.blobs.put(blob.sha256, await source.open(blob.key), blob.bytes);
    if (stored.sha256 === blob.sha256) return null;
    await place.blobs.remove(blob.sha256);
    return `${blob.key} has other content than was written`;
  } catch (error) {
    // A full disk is no blob's fault.
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw error;
    return `${blob.key}: ${errorMessage(error)}`;
  }
}

async function copyFiles(
  { data }: Config,
  folder: string,
  masterKey: Buffer | null,
): Promise<Manifest['files']> {
  const files: Manifest['files'] = [];
  const add = async (name: string, content: Buffer): Promise<void> => {
    await writeFileDurably(join(folder, name), content);
    files.push({ name, sha256: await hashFile(join(folder, name)) });
  };
  if (!masterKey) return files;
  await add(MASTER_KEY_FILE, masterKey);
  for (const name of DATA_FOLDER_FILES) {
    const content = await readFile(join(data, name)).catch(() => null);
    if (content) await add(name, content);
  }
  return files;
}
