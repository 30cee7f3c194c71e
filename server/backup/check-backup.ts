/** Looks whether a backup is whole and unchanged: every file against the hash in its manifest. */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { diskBlobPath } from '../blobs/disk.ts';
import { BackupError } from './backup-error.ts';
import { findBackup } from './backup-folder.ts';
import { blobListPath, readBlobList } from './blob-list.ts';
import { hashFile, type Manifest, readManifest, tablePath } from './manifest.ts';

export interface CheckedBackup {
  /** Where it lies, and where its blobs lie. */
  folder: string;
  blobsFolder: string;
  manifest: Manifest;
  masterKey: Buffer;
  /** Of all blobs together. */
  blobBytes: number;
}

/**
 * Checks the backup that the path names. `hashBlobs: false` looks only whether the blobs are there in their length, for who
 * reads them all afterwards. Throws BackupError with what is wrong.
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
    const there = await stat(file).catch(() => null);
    if (!there) throw new BackupError(`The backup in ${folder} is not whole: its blob ${file} is missing.`);
    if (there.size !== bytes)
      throw new BackupError(`${file} was changed: it has ${there.size} bytes, and had ${bytes}.`);
    if (hashBlobs) await checkFile(file, sha256);
    blobBytes += there.size;
  }
  return { folder, blobsFolder: blobs, manifest, masterKey, blobBytes };
}

async function checkFile(path: string, sha256: string): Promise<void> {
  if (!existsSync(path)) throw new BackupError(`The backup is not whole: ${path} is missing.`);
  if ((await hashFile(path)) !== sha256)
    throw new BackupError(`${path} was changed after the backup was made: its content has another hash.`);
}
