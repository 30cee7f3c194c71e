/**
 * Backs up a running server. It acquires a hold on the blobs and writes every table as of one instant. Then it copies the
 * blobs that the backup folder does not have yet, and writes the manifest. It renews the hold once a minute. When the hold
 * expires even so, for example because the machine slept, blobs may be missing and the backup fails.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '@switchyard/runner/process/errors.ts';
import { FolderInUseError } from '@switchyard/worker/folder-lock.ts';
import PQueue from 'p-queue';
import { acquireBackupHold, releaseBackupHold, renewBackupHold } from '../../platform/blobs/backup-holds.ts';
import type { BlobStore } from '../../platform/blobs/blob-store.ts';
import { openBlobReader } from '../../platform/blobs/open-blob-store.ts';
import { type Clock, formatRfc3339 } from '../../platform/clock.ts';
import type { StorageConfig } from '../../platform/config.ts';
import { IncompleteRestoreError, lockDataFolder } from '../../platform/database/folder-lock.ts';
import {
  appliedMigrations,
  listMigratedTables,
  listTables,
  openPostgresSnapshot,
  openSqliteSnapshot,
  readLastSequenceValue,
  type SnapshotConnection,
} from '../../platform/database/maintenance/snapshot-connection.ts';
import { sqlitePath } from '../../platform/database/open.ts';
import { errorMessage } from '../../platform/log.ts';
import { checkMasterKey, loadOrCreateMasterKey, writeFileDurably } from '../../platform/master-key.ts';
import { makeId, type Random } from '../../platform/random.ts';
import { migrations } from '../migrations.ts';
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
import { recordBackup } from './record-backup.ts';
import { writeRows } from './row-files.ts';

const RENEW_INTERVAL_MS = 60_000;
/**
 * Rows of running processes, records of backups elsewhere, tables of Kysely, and the id of the installation, because a
 * restored server gets a new one.
 */
const EXCLUDED_TABLES = new Set([
  ...['workers', 'leases', 'backup_holds', 'installation_identity', 'backups'],
  ...['opened', 'migrations', 'migrations_lock'],
]);
const REPORTED_DAMAGE_MAX = 10;
/** Each blob waits twice for the disk. More at once would slow the server on the same disk. */
const BLOBS_CONCURRENCY_MAX = 4;
const MIGRATION_NAMES = migrations.map(({ name }) => name).sort();

/** A finished backup. */
export interface BackupResult {
  folder: string;
  manifest: Manifest;
  /** The blobs that the folder did not have before. */
  copied: { count: number; bytes: number };
  /** The number of removed older backups. */
  removedBackups: number;
}

interface BackupOptions {
  folder: string;
  withoutKey: boolean;
  /** The number of backups to keep in the folder, this one included; null for all. */
  keep: number | null;
}

/** Makes a backup. Throws BackupError for a problem that an operator can solve; then there is no new backup. */
export async function createBackup(
  config: StorageConfig,
  options: BackupOptions,
  { clock, random }: { clock: Clock; random: Random },
): Promise<BackupResult> {
  if (options.withoutKey && !config.masterKey)
    throw new BackupError(
      'The master key is only in the data folder, so nobody could read a backup without it. Leave out --without-key, or keep the key elsewhere and set SWITCHYARD_KEY.',
    );
  const release = lockStoppedServer(config);
  const place = await openBackupFolder(options.folder).catch((error: unknown) => {
    release();
    throw error instanceof FolderInUseError ? new BackupError(error.message) : error;
  });
  try {
    const database = await openServerDatabase(config);
    try {
      await checkRelease(database);
      const masterKey = await readMasterKey(config, database, random);
      const hold = await holdBlobs(database, clock, random);
      try {
        const startedAt = clock.now();
        const contents = await writeTables(database, place.incoming);
        const { copied, blobBytes } = await copyBlobs(place, await openBlobReader(config));
        const files = await copyFiles(config, place.incoming, options.withoutKey ? null : masterKey);
        await hold.check();
        const manifest: Manifest = {
          format: 1,
          taken_at: formatRfc3339(startedAt),
          database: database.kind,
          migrations: MIGRATION_NAMES,
          ...contents,
          files,
        };
        await writeManifest(place.incoming, manifest, masterKey);
        const folder = await place.finish(startedAt);
        const removedBackups = options.keep === null ? 0 : await place.prune(options.keep);
        const made = { folder, manifest, blobBytes, copiedBytes: copied.bytes };
        await recordBackup(database, made, { clock, random });
        return { folder, manifest, copied, removedBackups };
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
 * Locks the data folder of a stopped server, and returns the release. A server that starts during the backup would lengthen
 * the WAL. A running server holds the lock itself.
 */
function lockStoppedServer(config: StorageConfig): () => void {
  if (config.postgres) return () => {};
  const path = sqlitePath(config.data);
  if (!existsSync(path))
    throw new BackupError(
      `There is no database at ${path}. Set SWITCHYARD_DATA to the data folder of the server.`,
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

async function openServerDatabase({ postgres, data }: StorageConfig): Promise<SnapshotConnection> {
  return postgres ? openPostgresSnapshot(postgres) : openSqliteSnapshot(sqlitePath(data));
}

/** Throws BackupError when this release does not know all tables, because the backup would not be complete. */
async function checkRelease(database: SnapshotConnection): Promise<void> {
  const applied = await appliedMigrations(database);
  if (applied.length === 0)
    throw new BackupError(
      'The database has no tables of Switchyard. Start the server on it once before the backup.',
    );
  if (applied.join() !== MIGRATION_NAMES.join())
    throw new BackupError(
      'The database is that of another release. Make the backup with the release that the server runs.',
    );
}

async function readMasterKey(
  config: StorageConfig,
  database: SnapshotConnection,
  random: Random,
): Promise<Buffer> {
  const path = join(config.data, MASTER_KEY_FILE);
  if (!config.masterKey && !existsSync(path))
    throw new BackupError(
      `There is no master key: SWITCHYARD_KEY is not set, and ${path} does not exist. Set SWITCHYARD_KEY, or SWITCHYARD_DATA to the data folder of the server.`,
    );
  const key = await loadOrCreateMasterKey(config.data, config.masterKey, random);
  await checkMasterKey({ read: database.read, transact: (work) => database.write(work) }, key);
  return key;
}

interface Hold {
  /** Throws BackupError when the hold has expired. */
  check(): Promise<void>;
  drop(): Promise<void>;
}

async function holdBlobs(database: SnapshotConnection, clock: Clock, random: Random): Promise<Hold> {
  const id = makeId<string>(random, 'hold');
  await database.write((tx) => acquireBackupHold(tx, id, clock.now()));
  let underWay = Promise.resolve(true);
  const renew = (): Promise<boolean> => {
    underWay = underWay.then(
      (isHeld) => isHeld && database.write((tx) => renewBackupHold(tx, id, clock.now())),
    );
    return underWay;
  };
  let stop = (): void => {};
  const renewLater = (): void => {
    stop = clock.after(RENEW_INTERVAL_MS, () => {
      // `check` returns the error of the renewal.
      renew().catch(() => {});
      renewLater();
    });
  };
  renewLater();
  return {
    async check() {
      if (!(await renew()))
        throw new BackupError(
          'The backup was interrupted for so long that some of its blobs may be missing. Make another backup.',
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
  const included = (await listTables(database)).filter(
    ({ name }) => known.has(name) && !EXCLUDED_TABLES.has(name),
  );
  const snapshot = await database.snapshot();
  try {
    const tables: TableFile[] = [];
    for (const { name, columns } of included) {
      const names = columns.map((column) => column.name);
      const list = names.map((column) => `"${column}"`).join(', ');
      const source = snapshot.readRows(`select ${list} from "${name}"`);
      tables.push({ name, columns: names, ...(await writeRows(tablePath(folder, name), names, source)) });
    }
    const listed = await writeBlobList(folder, snapshot);
    const numbers: Manifest['numbers'] = [];
    for (const { name: table, columns } of included)
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
): Promise<{ copied: BackupResult['copied']; blobBytes: number }> {
  const copied = { count: 0, bytes: 0 };
  let blobBytes = 0;
  const damaged: string[] = [];
  const errors: unknown[] = [];
  // Several keys may have the same content.
  const underWay = new Set<string>();
  const queue = new PQueue({ concurrency: BLOBS_CONCURRENCY_MAX });
  const copy = async (blob: ListedBlob): Promise<void> => {
    const problem = await copyBlob(place, source, blob);
    underWay.delete(blob.sha256);
    if (problem !== null) {
      damaged.push(problem);
      return;
    }
    copied.count += 1;
    copied.bytes += blob.bytes;
  };
  for await (const blob of readBlobList(place.incoming)) {
    blobBytes += blob.bytes;
    if (underWay.has(blob.sha256) || place.hasBlob(blob.sha256)) continue;
    await queue.onSizeLessThan(1);
    if (errors.length > 0 || damaged.length >= REPORTED_DAMAGE_MAX) break;
    underWay.add(blob.sha256);
    queue.add(() => copy(blob)).catch((error: unknown) => errors.push(error));
  }
  await queue.onIdle();
  if (errors.length > 0) throw errors[0];
  if (damaged.length > 0)
    throw new BackupError(
      `The backup failed, because blobs that the database names cannot be copied:\n${damaged.map((one) => `  ${one}`).join('\n')}`,
    );
  return { copied, blobBytes };
}

/** Copies a blob. Returns the problem with the blob, or null. */
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
    // A full disk is not a problem of the blob.
    if (isErrno(error, 'ENOSPC')) throw error;
    return `${blob.key}: ${errorMessage(error)}`;
  }
}

async function copyFiles(
  { data }: StorageConfig,
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
