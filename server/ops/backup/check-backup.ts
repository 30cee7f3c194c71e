/** Checks that a backup is whole and unchanged: compares every file with its hash in the manifest. */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { diskBlobPath } from '../../platform/blobs/disk.ts';
import { BackupError } from './backup-error.ts';
import { findBackup } from './backup-folder.ts';
import { blobListPath, readBlobList } from './blob-list.ts';
import { hashFile, type Manifest, readManifest, tablePath } from './manifest.ts';

/** A backup that passed the check. */
export interface CheckedBackup {
  folder: string;
  blobsFolder: string;
  manifest: Manifest;
  masterKey: Buffer;
  /** Total length of all blobs. */
  blobBytes: number;
}

/**
 * Checks the backup at the path. With `hashBlobs: false` it checks only the lengths of blobs, for a caller that reads all of
 * them afterwards. Throws BackupError that names the problem.
 */
export async function checkBackup(
  path: string,
  fromEnvironment: Buffer | null,
  { hashBlobs }: { hashBlobs: boolean },
): Promise<CheckedBackup> {
  const { folder, blobs } = await findBackup(path);
  const { manifest, masterKey } = await readManifest(folder, fromEnvironment);
  for (const { name, sha256 } of manifest.tables) await checkFile(tablePath(folder, name), sha256);
  for (const { name, sha256 } of manifest.files) await checkFile(join(folder, name), sha256);
  await checkFile(blobListPath(folder), manifest.blobs.sha256);
  let blobBytes = 0;
  for await (const { sha256, bytes } of readBlobList(folder)) {
    const file = diskBlobPath(blobs, sha256);
    const found = await stat(file).catch(() => null);
    if (!found) throw new BackupError(`The backup in ${folder} is not whole: its blob ${file} is missing.`);
    if (found.size !== bytes)
      throw new BackupError(`${file} was changed: it has ${found.size} bytes, and had ${bytes}.`);
    if (hashBlobs) await checkFile(file, sha256);
    blobBytes += found.size;
  }
  return { folder, blobsFolder: blobs, manifest, masterKey, blobBytes };
}

async function checkFile(path: string, sha256: string): Promise<void> {
  if (!existsSync(path)) throw new BackupError(`The backup is not whole: ${path} is missing.`);
  if ((await hashFile(path)) !== sha256)
    throw new BackupError(`${path} was changed after the backup was made: its content has another hash.`);
}
