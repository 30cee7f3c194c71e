/** Checks the free space of the disk that holds the runs. */
import { statfsSync } from 'node:fs';

/** With less space an app fails on its own files, and its error does not name the cause. */
export const MIN_FREE_DISK_BYTES = 8 * 1024 * 1024;
/** A run creates about ten files and folders of its own. */
const MIN_FREE_FILES = 100;

/**
 * Returns whether the disk has space for further runs; true when the file system does not report it. Synchronous: the
 * kernel answers from memory, in microseconds. It reads `bavail` also as root, because `bfree` includes blocks that nobody
 * can use: 16 MiB on ext4 with blocks of 4 KiB.
 */
export function hasDiskSpace(folder: string): boolean {
  try {
    const { blocks, bavail, bsize, files, ffree } = statfsSync(folder);
    const hasFiles = files === 0 || ffree >= MIN_FREE_FILES;
    return blocks === 0 || (bavail * bsize >= MIN_FREE_DISK_BYTES && hasFiles);
  } catch {
    return true;
  }
}
