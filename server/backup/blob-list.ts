/** The list of the blobs that a backup names: under which key the server has each, and what is in it. */
import { join } from 'node:path';
import type { Snapshot } from '../database/maintenance/snapshot-connection.ts';
import { type RowFile, readRows, writeRows } from './row-files.ts';

export interface ListedBlob {
  key: string;
  sha256: string;
  bytes: number;
}

const COLUMNS = ['blob_key', 'sha256', 'bytes'];
const SELECT =
  'select blob_key, max(sha256) as sha256, max(bytes) as bytes from contents where blob_key is not null group by blob_key';

export const blobListPath = (folder: string): string => join(folder, 'blobs.jsonl.zst');

export function writeBlobList(folder: string, snapshot: Snapshot): Promise<RowFile> {
  return writeRows(blobListPath(folder), COLUMNS, snapshot.readRows(SELECT));
}

/** Each blob once. */
export async function* readBlobList(folder: string): AsyncGenerator<ListedBlob> {
  for await (const [key, sha256, bytes] of readRows(blobListPath(folder)))
    yield { key: String(key), sha256: String(sha256), bytes: Number(bytes) };
}
