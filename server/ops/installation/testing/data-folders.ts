/** Reads data folders, for tests that compare them before and after. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Returns time, mode and hash of every file below the folder, by path. */
export function hashFolderTree(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const path of ['', ...(readdirSync(folder, { recursive: true }) as string[])]) {
    const state = statSync(join(folder, path));
    const hash = state.isFile() ? createHash('sha256').update(readFileSync(join(folder, path))) : null;
    found[path] = `${state.mtimeMs} ${state.mode} ${hash?.digest('hex') ?? 'folder'}`;
  }
  return found;
}

/** Keys of the blobs in a blob folder, without the trash. */
export const listBlobKeys = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.length <= 2)
    .flatMap((part) => readdirSync(join(folder, part)));

/**
 * Returns the offset of the last commit but one in a WAL of SQLite: damage there drops two commits. Current frames have the
 * salts of the header, and a commit ends with a frame that has the size of the database.
 */
export function findPenultimateCommit(wal: Buffer): number {
  const frameBytes = 24 + wal.readUInt32BE(8);
  const ends: number[] = [];
  for (let at = 32; at + frameBytes <= wal.length; at += frameBytes) {
    if (!wal.subarray(at + 8, at + 16).equals(wal.subarray(16, 24))) break;
    if (wal.readUInt32BE(at + 4) > 0) ends.push(at + frameBytes);
  }
  return ends.at(-3) ?? 32;
}
