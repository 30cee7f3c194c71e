/**
 * Blobs as files. Written to `incoming/`, synced, renamed into `<first two characters>/<key>`, and the folder synced, so
 * that after a power cut a blob is there whole or not at all. `incoming/` is emptied at the start.
 */
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PIECE_BYTES, writeMeasured } from './measured-file.ts';
import type { BlobStore } from './store.ts';

/** Opens the folder, which is made when it is missing. */
export async function openDiskBlobs(folder: string): Promise<BlobStore> {
  const incoming = join(folder, 'incoming');
  await rm(incoming, { recursive: true, force: true });
  await mkdir(incoming, { recursive: true });
  const pathOf = (key: string): string => diskBlobPath(folder, key);

  return {
    ...readDiskBlobs(folder),
    async put(key, source, bytesMax) {
      const temporary = join(incoming, key);
      try {
        const measured = await writeMeasured(temporary, source, bytesMax, { flush: true });
        const path = pathOf(key);
        await mkdir(dirname(path), { recursive: true });
        await rename(temporary, path);
        await syncFolder(dirname(path));
        return { key, ...measured };
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },
    remove: (key) => rm(pathOf(key), { force: true }),
    async *list(writtenBefore) {
      for (const part of await readdir(folder)) {
        if (part === 'incoming') continue;
        for (const key of await readdir(join(folder, part))) {
          const found = await stat(join(folder, part, key)).catch(() => null);
          if (found && found.mtimeMs < writtenBefore) yield key;
        }
      }
    },
  };
}

/** The blobs of a folder that is another process's to write. */
export function readDiskBlobs(folder: string): Pick<BlobStore, 'open'> {
  return {
    async open(key, part) {
      const stream = createReadStream(diskBlobPath(folder, key), {
        highWaterMark: PIECE_BYTES,
        ...(part ? { start: part.from, end: part.to } : {}),
      });
      await new Promise<void>((resolve, reject) => {
        stream.once('open', () => resolve());
        stream.once('error', reject);
      });
      return stream;
    },
  };
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
