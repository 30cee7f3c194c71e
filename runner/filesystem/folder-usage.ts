/**
 * Measures what an app has written while the app goes on writing, and may wish us ill: a folder is entered by its open
 * descriptor and never through a link, so that nothing it swaps under our feet leads us out of its folders, and a look
 * ends at the first limit that is broken. A folder that cannot be looked into is said to be one, and not taken for empty.
 */
import { closeSync, constants, fstatSync, lstatSync, opendirSync, openSync } from 'node:fs';
import { isErrno } from '../process/errors.ts';

export interface FolderUsage {
  /** Space taken on disk; sparse files count what they hold. */
  bytes: number;
  /** Files, folders and all else that has a name, the outermost folders left out. */
  entries: number;
  /** Why not all was looked at: folders nested deeper than DEEPEST, or one that we may not read. */
  incompleteReason?: 'deep' | 'unreadable';
}

/** Each folder on the way down is held open, so this many at once. */
export const MAX_FOLDER_DEPTH = 200;

const LINUX = process.platform === 'linux';
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const BATCH = 256;

/** Everything below the folders, and files named in their place, up to where one of the limits is passed. Folders that are gone count nothing. */
export function measureFolders(folders: string[], upTo: { bytes: number; entries: number }): FolderUsage {
  const sum: FolderUsage = { bytes: 0, entries: 0 };
  const count = (path: string): void => {
    sum.bytes += (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  };
  const enter = (path: string, depth: number): void => {
    if (depth > MAX_FOLDER_DEPTH) {
      sum.incompleteReason = 'deep';
      return;
    }
    let fd: number;
    try {
      fd = openSync(path, FOLDER);
    } catch (error) {
      if (isErrno(error, 'EACCES', 'EPERM')) sum.incompleteReason ??= 'unreadable';
      else if (isErrno(error, 'ENOTDIR')) count(path);
      // Anything else: the app removes or replaces what we are about to look at.
      return;
    }
    try {
      sum.bytes += fstatSync(fd).blocks * 512;
      lookInto(LINUX ? `/proc/self/fd/${fd}` : path, depth);
    } finally {
      closeSync(fd);
    }
  };
  const lookInto = (folder: string, depth: number): void => {
    const listing = opendirSync(folder, { bufferSize: BATCH });
    try {
      for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
        sum.entries += 1;
        if (sum.incompleteReason !== undefined || sum.entries > upTo.entries || sum.bytes > upTo.bytes)
          return;
        const path = `${folder}/${entry.name}`;
        if (entry.isDirectory()) enter(path, depth + 1);
        else if (entry.isFile()) count(path);
      }
    } finally {
      listing.closeSync();
    }
  };
  for (const folder of folders) enter(folder, 0);
  return sum;
}
