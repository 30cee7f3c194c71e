/** Whether the disk has room for runs. */
import { statfsSync } from 'node:fs';

/** An app that is given less fails on its own files, and says of them what it likes. */
const ROOM_BYTES_MIN = 8 * 1024 * 1024;
const isRoot = process.getuid?.() === 0;

/**
 * true also where the file system does not tell. Synchronous: the answer comes from memory, in microseconds. What is kept
 * back for root counts for root alone.
 */
export function hasRoom(folder: string): boolean {
  try {
    const { blocks, bfree, bavail, bsize } = statfsSync(folder);
    return blocks === 0 || (isRoot ? bfree : bavail) * bsize >= ROOM_BYTES_MIN;
  } catch {
    return true;
  }
}
