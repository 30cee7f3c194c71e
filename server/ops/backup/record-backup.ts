/** Records of backups and of their checks in the database of the server, which shows them. */
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BACKUPS_MAX } from '@switchyard/contract/limits.ts';
import { acquireFolderLock, FolderInUseError } from '@switchyard/worker/folder-lock.ts';
import type { Clock } from '../../platform/clock.ts';
import type { StorageConfig } from '../../platform/config.ts';
import {
  openPostgresSnapshot,
  openSqliteSnapshot,
  type SnapshotConnection,
} from '../../platform/database/maintenance/snapshot-connection.ts';
import { sqlitePath } from '../../platform/database/open.ts';
import { makeId, type Random } from '../../platform/random.ts';
import { deleteBackups, insertBackup, listBackups, recordCheck } from '../health/backup-records.ts';
import { BackupError } from './backup-error.ts';
import { findBackup } from './backup-folder.ts';
import { type CheckedBackup, checkBackup } from './check-backup.ts';
import { MASTER_KEY_FILE, type Manifest } from './manifest.ts';

interface MadeBackup {
  folder: string;
  manifest: Manifest;
  /** Length of all of its blobs. */
  blobBytes: number;
  copiedBytes: number;
}

/** Adds the record of a new backup, and removes those of older ones that `--keep` has removed from its folder. */
export async function recordBackup(
  database: SnapshotConnection,
  { folder, manifest, blobBytes, copiedBytes }: MadeBackup,
  { clock, random }: { clock: Clock; random: Random },
): Promise<void> {
  const known = (await listBackups(database.read, BACKUPS_MAX)).map((backup) => backup.folder);
  const removed = known.filter((one) => dirname(one) === dirname(folder) && !existsSync(one));
  const record = {
    id: makeId<string>(random, 'backup'),
    made_at: Date.parse(manifest.taken_at),
    finished_at: clock.now(),
    folder,
    rows: manifest.tables.reduce((sum, table) => sum + table.rows, 0),
    blobs: manifest.blobs.count,
    bytes: blobBytes + (await measureFiles(folder)),
    copied_bytes: copiedBytes,
    has_key: manifest.files.some(({ name }) => name === MASTER_KEY_FILE) ? (1 as const) : (0 as const),
    verified_at: null,
    problem: '',
  };
  await database.write(async (tx) => {
    await deleteBackups(tx, removed);
    await insertBackup(tx, record);
  });
}

async function measureFiles(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  return bytes;
}

/** Checks the backup at the path and stores the result on the running server. Throws BackupError that names the problem. */
export async function checkAndRecord(
  config: StorageConfig,
  path: string,
  { clock }: { clock: Clock },
): Promise<CheckedBackup> {
  const { folder } = await findBackup(path);
  try {
    const checked = await checkBackup(path, config.masterKey, { hashBlobs: true });
    await storeCheck(config, folder, { at: clock.now(), problem: '' });
    return checked;
  } catch (error) {
    if (error instanceof BackupError)
      await storeCheck(config, folder, { at: clock.now(), problem: error.message });
    throw error;
  }
}

/**
 * Stores the result of a check. Without a running server it stores nothing: opening the database of a stopped one would drop
 * commits behind damage in its log. A check is as good without its record, so a database of another release is no error.
 */
async function storeCheck(
  config: StorageConfig,
  folder: string,
  result: { at: number; problem: string },
): Promise<void> {
  if (!config.postgres && !isServerRunning(config.data)) return;
  try {
    const database = config.postgres
      ? await openPostgresSnapshot(config.postgres)
      : openSqliteSnapshot(sqlitePath(config.data));
    try {
      await database.write((tx) => recordCheck(tx, folder, result));
    } finally {
      await database.close();
    }
  } catch {}
}

function isServerRunning(data: string): boolean {
  if (!existsSync(join(data, 'lock')) || !existsSync(sqlitePath(data))) return false;
  try {
    acquireFolderLock(data, 'in use').release();
    return false;
  } catch (error) {
    return error instanceof FolderInUseError;
  }
}
