/** Whether the disk has room for runs. */
import { statfsSync } from 'node:fs';

/** An app that is given less fails on its own files, and says of them what it likes. */
export const MIN_FREE_DISK_BYTES = 8 * 1024 * 1024;
/** A run makes about ten files and folders of its own. */
const FILES_MIN = 100;

/**
 * true also where the file system does not tell. Synchronous: the answer comes from memory, in microseconds. Root too
 * is held to what ordinary users may have (`bavail`): `bfree` has blocks in it that nobody can use, 16 MiB of them on
 * ext4 with blocks of 4 KiB.
 */
export function hasDiskSpace(folder: string): boolean {
  try {
    const { blocks, bavail, bsize, files, ffree } = statfsSync(folder);
    const hasFiles = files === 0 || ffree >= FILES_MIN;
    return blocks === 0 || (bavail * bsize >= MIN_FREE_DISK_BYTES && hasFiles);
  } catch {
    return true;
  }
}
