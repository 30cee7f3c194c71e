/**
 * Blobs as files. Written to `incoming/`, synced, renamed into `<last two characters>/<key>`, and the folder synced, so
 * that after a power cut a blob is there whole or not at all. `incoming/` is emptied at the start; several processes that
 * share a folder each have one of their own in it. The trash is `.trash/<key>`, and `installation.json` is the marker.
 */
import { constants, createReadStream, existsSync } from 'node:fs';
import { copyFile, link, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  BlobMissingError,
  type BlobRange,
  type BlobReader,
  type BlobStore,
  formatMarker,
  MARKER_FILE,
  MarkerExistsError,
  openOrRestore,
  parseMarker,
  StoreUnavailableError,
  TRASH_FOLDER,
} from './blob-store.ts';
import { FILE_CHUNK_BYTES, writeHashedFile } from './hashed-file.ts';

const INCOMING = 'incoming';
/** Blobs lie in folders named by two characters. */
const SHARD_FOLDER = /^[a-z0-9-]{1,2}$/;
/** NFS keeps removed files that are still open under names with a dot. */
const KEY = /^[a-z0-9-]+$/;
/** Another process that shares the folder may still write a younger one. */
const ABANDONED_AGE_MS = 24 * 60 * 60 * 1000;

/** Opens the folder, which is made when it is missing. `owner` names this process where several share the folder. */
export async function openDiskBlobs(folder: string, owner?: string): Promise<BlobStore> {
  const incoming = owner === undefined ? join(folder, INCOMING) : join(folder, INCOMING, owner);
  await rm(incoming, { recursive: true, force: true });
  await mkdir(incoming, { recursive: true });
  if (owner !== undefined) await removeAbandoned(join(folder, INCOMING), (await stat(incoming)).mtimeMs);
  const pathOf = (key: string): string => diskBlobPath(folder, key);
  const trashed = (key: string): string => join(folder, TRASH_FOLDER, key);

  const restore = async (key: string): Promise<boolean> => {
    await mkdir(dirname(pathOf(key)), { recursive: true });
    try {
      await rename(trashed(key), pathOf(key));
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
    await syncFolder(dirname(pathOf(key)));
    return true;
  };

  /** Made at the start: it can only be missing where the share that held it is no longer mounted. */
  const isAway = (): boolean => !existsSync(incoming);

  return {
    ...openDiskBlobReader(folder),
    open: (key, part) =>
      openOrRestore(
        () => openFile(key, pathOf(key), part),
        () => (isAway() ? Promise.resolve(false) : restore(key)),
      ).catch((error: unknown) => {
        throw error instanceof BlobMissingError && isAway()
          ? new StoreUnavailableError(folder, error)
          : error;
      }),
    async put(key, source, bytesMax) {
      const temporary = join(incoming, key);
      try {
        const measured = await writeHashedFile(temporary, source, bytesMax, { flush: true });
        const path = pathOf(key);
        await mkdir(dirname(path), { recursive: true });
        await rename(temporary, path);
        await syncFolder(dirname(path));
        return { key, ...measured };
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => {});
        if (isMissing(error) && isAway()) throw new StoreUnavailableError(folder, error);
        throw error;
      }
    },
    remove: (key) => rm(pathOf(key), { force: true }),
    async moveToTrash(key, now) {
      await mkdir(join(folder, TRASH_FOLDER), { recursive: true });
      try {
        // The age in the trash is counted from here.
        await utimes(pathOf(key), now / 1000, now / 1000);
        await rename(pathOf(key), trashed(key));
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
    restore,
    purge: (key) => rm(trashed(key), { force: true }),
    async writeMarker(marker, { isFirst = false } = {}) {
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
        if (isFirst) await createOnce(temporary, join(folder, MARKER_FILE));
        else await rename(temporary, join(folder, MARKER_FILE));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        throw new MarkerExistsError(`${join(folder, MARKER_FILE)} was written by another installation`);
      } finally {
        await rm(temporary, { force: true });
      }
      await syncFolder(folder);
    },
    removeMarker: () => rm(join(folder, MARKER_FILE), { force: true }),
  };
}

/** The blobs of a folder, which may be missing, for a process that changes nothing. */
export function openDiskBlobReader(folder: string): BlobReader {
  async function* written(path: string, before: number): AsyncGenerator<string> {
    for (const key of await namesIn(path)) {
      const found = await stat(join(path, key)).catch(() => null);
      if (KEY.test(key) && found?.isFile() && found.mtimeMs < before) yield key;
    }
  }
  return {
    open: (key, part) =>
      openFile(key, diskBlobPath(folder, key), part).catch((error: unknown) => {
        if (error instanceof BlobMissingError) return openFile(key, join(folder, TRASH_FOLDER, key), part);
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
      for (const part of await namesIn(folder))
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
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

async function namesIn(folder: string): Promise<string[]> {
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

/** Throws EEXIST where the path is taken. Some shared file systems have no hard links. */
async function createOnce(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
}

/** By the clock of the file system, which may be another machine's. */
async function removeAbandoned(incoming: string, now: number): Promise<void> {
  for (const owner of await namesIn(incoming))
    for (const name of await namesIn(join(incoming, owner)).catch(() => [])) {
      const path = join(incoming, owner, name);
      const found = await stat(path).catch(() => null);
      if (found && now - found.mtimeMs > ABANDONED_AGE_MS) await rm(path, { force: true });
    }
}

/** Where the blob lies, or would. */
export function diskBlobPath(folder: string, key: string): string {
  return join(folder, key.slice(-2), key);
}

/** Waits until the names in the folder are on the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
