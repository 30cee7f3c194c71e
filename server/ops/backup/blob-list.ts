/** The list of the blobs of a backup: the key of each on the server, its hash and its length. */
import { join } from 'node:path';
import { quoteValue } from '@switchyard/contract/presentation/quote-value.ts';
import { isBlobKey } from '../../platform/blobs/blob-store.ts';
import type { Snapshot } from '../../platform/database/maintenance/snapshot-connection.ts';
import { BackupError } from './backup-error.ts';
import { SHA256 } from './manifest.ts';
import { type RowFile, readRows, writeRows } from './row-files.ts';

/** One blob of the list. */
export interface ListedBlob {
  key: string;
  sha256: string;
  bytes: number;
}

const COLUMNS = ['blob_key', 'sha256', 'bytes'];
const SELECT =
  'select blob_key, max(sha256) as sha256, max(bytes) as bytes from contents where blob_key is not null group by blob_key';

/** Returns the path of the list in the folder of a backup. */
export const blobListPath = (folder: string): string => join(folder, 'blobs.jsonl.zst');

/** Writes the list of the blobs that the snapshot names. */
export function writeBlobList(folder: string, snapshot: Snapshot): Promise<RowFile> {
  return writeRows(blobListPath(folder), COLUMNS, snapshot.readRows(SELECT));
}

/** Yields each blob of the backup once. Throws BackupError for a key or a hash that could be a path. */
export async function* readBlobList(folder: string): AsyncGenerator<ListedBlob> {
  for await (const row of readRows(blobListPath(folder))) {
    const [key = '', sha256 = ''] = row.map(String);
    const bytes = Number(row[2]);
    if (!isBlobKey(key) || !SHA256.test(sha256) || !Number.isSafeInteger(bytes) || bytes < 0)
      throw new BackupError(
        `${blobListPath(folder)} names the blob ${quoteValue(key)} with the hash ${quoteValue(sha256)} and ${quoteValue(row[2])} bytes, which no backup has. The backup was changed after it was made. Use another backup.`,
      );
    yield { key, sha256, bytes };
  }
}
