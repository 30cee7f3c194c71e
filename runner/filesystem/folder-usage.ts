/**
 * Measures folders while a possibly hostile app writes to them. It opens each folder by descriptor and never through a
 * link, so that no replaced path leads out of the app's folders. A measurement ends at the first exceeded limit, and reports
 * an unreadable folder instead of counting it as empty.
 */
import { closeSync, constants, fstatSync, lstatSync, opendirSync, openSync } from 'node:fs';
import { isErrno } from '../process/errors.ts';

/** Size and number of entries below folders. */
export interface FolderUsage {
  /** Allocated space; a sparse file counts with its allocated blocks. */
  bytes: number;
  /** Files, folders and other entries, without the outermost folders. */
  entries: number;
  /** Set when the measurement is incomplete: a folder below MAX_FOLDER_DEPTH, or one that is not readable. */
  incompleteReason?: 'deep' | 'unreadable';
}

/** The measurement holds one open descriptor for each level. */
export const MAX_FOLDER_DEPTH = 200;

const LINUX = process.platform === 'linux';
const FOLDER_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const ENTRIES_PER_READ = 256;

/** Measures everything below the folders, or files in their place, up to the first exceeded limit. Missing folders count as empty. */
export function measureFolders(folders: string[], limits: { bytes: number; entries: number }): FolderUsage {
  const sum: FolderUsage = { bytes: 0, entries: 0 };
  const addFile = (path: string): void => {
    sum.bytes += (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  };
  const addFolder = (path: string, depth: number): void => {
    if (depth > MAX_FOLDER_DEPTH) {
      sum.incompleteReason = 'deep';
      return;
    }
    let fd: number;
    try {
      fd = openSync(path, FOLDER_FLAGS);
    } catch (error) {
      if (isErrno(error, 'EACCES', 'EPERM')) sum.incompleteReason ??= 'unreadable';
      else if (isErrno(error, 'ENOTDIR')) addFile(path);
      // Any other error: the app removes or replaces the folder at this moment.
      return;
    }
    try {
      sum.bytes += fstatSync(fd).blocks * 512;
      addEntries(LINUX ? `/proc/self/fd/${fd}` : path, depth);
    } finally {
      closeSync(fd);
    }
  };
  const addEntries = (folder: string, depth: number): void => {
    const listing = opendirSync(folder, { bufferSize: ENTRIES_PER_READ });
    try {
      for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
        sum.entries += 1;
        if (sum.incompleteReason !== undefined || sum.entries > limits.entries || sum.bytes > limits.bytes)
          return;
        const path = `${folder}/${entry.name}`;
        if (entry.isDirectory()) addFolder(path, depth + 1);
        else if (entry.isFile()) addFile(path);
      }
    } finally {
      listing.closeSync();
    }
  };
  for (const folder of folders) addFolder(folder, 0);
  return sum;
}
