/**
 * Stores blobs as files. `put` writes to `incoming/`, syncs the file, renames it to `<last two characters>/<key>` and syncs
 * the folder. After a power cut a blob therefore exists whole or not at all. The start empties `incoming/`; processes that
 * share a folder have sub-folders of their own in it. The trash is `.trash/<key>`, and `installation.json` is the marker.
 */
import { constants, createReadStream, existsSync } from 'node:fs';
import { copyFile, link, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { isErrno } from '@switchyard/runner/process/errors.ts';
import {
  BlobMissingError,
  type BlobRange,
  type BlobReader,
  type BlobStore,
  checkBlobKey,
  formatMarker,
  type InstallationMarker,
  isBlobKey,
  MARKER_FILE,
  MarkerExistsError,
  openOrRestore,
  parseMarker,
  StoreUnavailableError,
  TRASH_FOLDER,
} from './blob-store.ts';
import { FILE_CHUNK_BYTES, writeHashedFile } from './hashed-file.ts';

const INCOMING = 'incoming';
/** Names of the folders of blobs: the last characters of their keys. */
const SHARD_FOLDER = /^[a-z0-9-]{1,2}$/;
/** Another process that shares the folder may still be writing a younger file. */
const ABANDONED_AGE_MS = 24 * 60 * 60 * 1000;

interface MarkerFile {
  folder: string;
  /** The folder of this process for unfinished files. */
  incoming: string;
  marker: InstallationMarker;
  isFirst: boolean;
}

/** Opens the folder and creates it when it is missing. `owner` names this process when several share the folder. */
export async function openDiskBlobs(folder: string, owner?: string): Promise<BlobStore> {
  const incoming = owner === undefined ? join(folder, INCOMING) : join(folder, INCOMING, owner);
  await rm(incoming, { recursive: true, force: true });
  await mkdir(incoming, { recursive: true });
  if (owner !== undefined) await removeAbandoned(join(folder, INCOMING), (await stat(incoming)).mtimeMs);
  const findPath = (key: string): string => diskBlobPath(folder, key);
  const findTrashPath = (key: string): string => trashPath(folder, key);

  const restore = async (key: string): Promise<boolean> => {
    await mkdir(dirname(findPath(key)), { recursive: true });
    try {
      await rename(findTrashPath(key), findPath(key));
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
    await syncToDisk(dirname(findPath(key)));
    return true;
  };

  /** The start creates `incoming`, so it is only missing when its share is no longer mounted. */
  const isUnmounted = (): boolean => !existsSync(incoming);

  return {
    ...openDiskBlobReader(folder),
    open: (key, part) =>
      openOrRestore(
        () => openFile(key, findPath(key), part),
        () => (isUnmounted() ? Promise.resolve(false) : restore(key)),
      ).catch((error: unknown) => {
        throw error instanceof BlobMissingError && isUnmounted()
          ? new StoreUnavailableError(folder, error)
          : error;
      }),
    async put(key, source, bytesMax) {
      const temporary = join(incoming, checkBlobKey(key));
      try {
        const measured = await writeHashedFile(temporary, source, bytesMax, { flush: true });
        const path = findPath(key);
        await mkdir(dirname(path), { recursive: true });
        await rename(temporary, path);
        await syncToDisk(dirname(path));
        return { key, ...measured };
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => {});
        if (isMissing(error) && isUnmounted()) throw new StoreUnavailableError(folder, error);
        throw error;
      }
    },
    remove: async (key) => rm(findPath(key), { force: true }),
    async moveToTrash(key, now) {
      await mkdir(join(folder, TRASH_FOLDER), { recursive: true });
      try {
        // `listTrash` reads the time of the move from the file.
        await utimes(findPath(key), now / 1000, now / 1000);
        await rename(findPath(key), findTrashPath(key));
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
    restore,
    purge: async (key) => rm(findTrashPath(key), { force: true }),
    writeMarker: (marker, { isFirst = false } = {}) => writeMarkerFile({ folder, incoming, marker, isFirst }),
    removeMarker: () => rm(join(folder, MARKER_FILE), { force: true }),
  };
}

/** Writes the marker durably. With `isFirst`, throws MarkerExistsError when there is one already. */
async function writeMarkerFile({ folder, incoming, marker, isFirst }: MarkerFile): Promise<void> {
  const path = join(folder, MARKER_FILE);
  const temporary = join(incoming, MARKER_FILE);
  await rm(temporary, { force: true });
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(formatMarker(marker));
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    if (isFirst) await createOnce(temporary, path);
    else await rename(temporary, path);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
    throw new MarkerExistsError(`${path} was written by another installation`);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncToDisk(folder);
}

/** Opens the blobs of a folder, which may be missing, for reading alone. */
export function openDiskBlobReader(folder: string): BlobReader {
  async function* written(path: string, before: number): AsyncGenerator<string> {
    for (const key of await listNames(path)) {
      const found = await stat(join(path, key)).catch(() => null);
      // NFS gives names with a dot to removed files that are still open.
      if (isBlobKey(key) && found?.isFile() && found.mtimeMs < before) yield key;
    }
  }
  return {
    open: async (key, part) =>
      openFile(key, diskBlobPath(folder, key), part).catch((error: unknown) => {
        if (error instanceof BlobMissingError) return openFile(key, trashPath(folder, key), part);
        throw error;
      }),
    async stat(key) {
      try {
        const { size, mtimeMs, ino } = await stat(diskBlobPath(folder, key));
        return { bytes: size, writtenAt: mtimeMs, version: `${ino} ${mtimeMs} ${size}` };
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    async *list(writtenBefore) {
      for (const part of await listNames(folder))
        if (SHARD_FOLDER.test(part)) yield* written(join(folder, part), writtenBefore);
    },
    listTrash: (movedBefore) => written(join(folder, TRASH_FOLDER), movedBefore),
    async readMarker() {
      const path = join(folder, MARKER_FILE);
      const text = await readFile(path, 'utf8').catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      });
      return text === null ? null : parseMarker(text, path);
    },
  };
}

function isMissing(error: unknown): boolean {
  return isErrno(error, 'ENOENT');
}

async function listNames(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

async function openFile(key: string, path: string, part?: BlobRange | null): Promise<Readable> {
  const stream = createReadStream(path, {
    highWaterMark: FILE_CHUNK_BYTES,
    ...(part ? { start: part.from, end: part.to } : {}),
  });
  await new Promise<void>((resolve, reject) => {
    stream.once('open', () => resolve());
    stream.once('error', (error) => reject(isMissing(error) ? new BlobMissingError(key, error) : error));
  });
  return stream;
}

/** Creates the file at `to`; throws EEXIST when it exists. Copies it on shared file systems without hard links. */
async function createOnce(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (isErrno(error, 'EEXIST')) throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
}

/** Removes old files of processes that have died. `now` comes from the clock of the file system, not of this machine. */
async function removeAbandoned(incoming: string, now: number): Promise<void> {
  for (const owner of await listNames(incoming))
    for (const name of await listNames(join(incoming, owner)).catch(() => [])) {
      const path = join(incoming, owner, name);
      const found = await stat(path).catch(() => null);
      if (found && now - found.mtimeMs > ABANDONED_AGE_MS) await rm(path, { force: true });
    }
}

/** Returns the path of the blob, whether it exists or not. Throws BlobMissingError for a name that no blob has. */
export function diskBlobPath(folder: string, key: string): string {
  return join(folder, checkBlobKey(key).slice(-2), key);
}

function trashPath(folder: string, key: string): string {
  return join(folder, TRASH_FOLDER, checkBlobKey(key));
}

/** Waits until the file, or the names in the folder, are on the disk. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
