/** Blobs in memory. They outlive the process that wrote them; each operation takes time, and can fail. */
import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  BlobMissingError,
  type BlobRange,
  type BlobStore,
  checkBlobKey,
  type InstallationMarker,
  MarkerExistsError,
  TooLargeError,
} from '../../server/platform/blobs/blob-store.ts';
import type { Draws } from '../kernel/draws.ts';
import type { SimulatedProcess } from '../kernel/simulated-process.ts';

interface StoredContent {
  content: Buffer;
  writtenAt: number;
  version: number;
}

/** The content of the store. */
export class MemoryBlobs {
  readonly #draws: Draws;
  readonly #blobs = new Map<string, StoredContent>();
  readonly #trash = new Map<string, StoredContent & { movedAt: number }>();
  #marker: InstallationMarker | null = null;
  #versions = 0;
  /** The probability that an operation fails. */
  failureRate = 0;
  failures = 0;
  /** Multiplies the time of each operation. */
  slowness = 1;

  constructor(draws: Draws) {
    this.#draws = draws;
  }

  /** The keys outside the trash. */
  get keys(): string[] {
    return [...this.#blobs.keys()];
  }

  /** Returns true for a blob that a reader gets, also from the trash. */
  has(key: string): boolean {
    return this.#blobs.has(key) || this.#trash.has(key);
  }

  /** Returns a copy of everything, for another world. */
  copyTo(other: MemoryBlobs): void {
    for (const [key, blob] of this.#blobs) other.#blobs.set(key, blob);
    other.#marker = this.#marker;
  }

  /** Opens the store for a process. */
  open(owner: SimulatedProcess): BlobStore {
    const { clock } = owner;
    const step = async (operation: string): Promise<void> => {
      await new Promise<void>((resolve) =>
        owner.after(this.#draws.duration(1.5) * this.slowness, '', resolve),
      );
      if (!this.#draws.happens(this.failureRate)) return;
      this.failures += 1;
      throw Object.assign(new Error(`EIO: i/o error, ${operation}`), { code: 'EIO', syscall: operation });
    };
    const find = (key: string): StoredContent => {
      const found = this.#blobs.get(checkBlobKey(key)) ?? this.#trash.get(key);
      if (!found) throw new BlobMissingError(key);
      return found;
    };
    const restore = (key: string): boolean => {
      const moved = this.#trash.get(key);
      if (!moved) return false;
      this.#trash.delete(key);
      this.#blobs.set(key, moved);
      return true;
    };
    const [blobs, trash] = [this.#blobs, this.#trash];
    return {
      async open(key, part) {
        await step('open');
        restore(key);
        return Readable.from([cut(find(key).content, part)], { objectMode: false });
      },
      stat: async (key) => {
        await step('stat');
        const found = blobs.get(key);
        return (
          (found && {
            bytes: found.content.length,
            writtenAt: found.writtenAt,
            version: String(found.version),
          }) ??
          null
        );
      },
      async *list(writtenBefore) {
        await step('list');
        for (const [key, { writtenAt }] of [...blobs]) if (writtenAt < writtenBefore) yield key;
      },
      async *listTrash(movedBefore) {
        await step('list');
        for (const [key, { movedAt }] of [...trash]) if (movedAt < movedBefore) yield key;
      },
      put: async (key, source, bytesMax) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        for await (const chunk of source) {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes > bytesMax) throw new TooLargeError(bytesMax);
        }
        await step('write');
        const content = Buffer.concat(chunks);
        this.#versions += 1;
        blobs.set(checkBlobKey(key), { content, writtenAt: clock.now(), version: this.#versions });
        return { key, bytes, sha256: hash('sha256', content, 'hex') };
      },
      async remove(key) {
        await step('remove');
        blobs.delete(key);
      },
      async moveToTrash(key, now) {
        await step('rename');
        const found = blobs.get(key);
        if (!found) return;
        blobs.delete(key);
        trash.set(key, { ...found, movedAt: now });
      },
      async restore(key) {
        await step('rename');
        return restore(key);
      },
      async purge(key) {
        await step('remove');
        trash.delete(key);
      },
      readMarker: async () => this.#marker,
      writeMarker: async (marker, { isFirst = false } = {}) => {
        if (isFirst && this.#marker) throw new MarkerExistsError('there is a marker already');
        this.#marker = marker;
      },
      removeMarker: async () => {
        this.#marker = null;
      },
    };
  }
}

function cut(content: Buffer, part: BlobRange | null | undefined): Buffer {
  return part ? content.subarray(part.from, part.to + 1) : content;
}
