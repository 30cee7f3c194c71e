/** The list of the blobs of a backup: the key of each on the server, its hash and its length. */
import { join } from 'node:path';
import type { Snapshot } from '../database/maintenance/snapshot-connection.ts';
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

/** Yields each blob of the backup once. */
export async function* readBlobList(folder: string): AsyncGenerator<ListedBlob> {
  for await (const [key, sha256, bytes] of readRows(blobListPath(folder)))
    yield { key: String(key), sha256: String(sha256), bytes: Number(bytes) };
}
