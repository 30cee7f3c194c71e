/** Blobs in memory. They outlive the process that wrote them; each operation takes time, and can fail. */
import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  BlobMissingError,
  type BlobRange,
  type BlobReader,
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
  /** Is called with the key of each blob that is gone for good. */
  onRemove = (_key: string): void => {};
  /** The probability that an operation fails. */
  failureRate = 0;
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
    const step = (operation: string): Promise<void> => this.#step(owner, operation);
    return {
      ...this.#openReader(step),
      ...this.#openTrash(step),
      put: async (key, source, bytesMax) => {
        const content = await readWithin(source, bytesMax);
        await step('write');
        this.#versions += 1;
        const writtenAt = owner.clock.now();
        this.#blobs.set(checkBlobKey(key), { content, writtenAt, version: this.#versions });
        return { key, bytes: content.length, sha256: hash('sha256', content, 'hex') };
      },
      remove: async (key) => {
        await step('remove');
        if (this.#blobs.delete(key)) this.onRemove(key);
      },
      writeMarker: async (marker, { isFirst = false } = {}) => {
        if (isFirst && this.#marker) throw new MarkerExistsError('there is a marker already');
        this.#marker = marker;
      },
      removeMarker: async () => {
        this.#marker = null;
      },
    };
  }

  async #step(owner: SimulatedProcess, operation: string): Promise<void> {
    const delay = this.#draws.duration(1.5) * this.slowness;
    await new Promise<void>((resolve) => owner.after(delay, '', resolve));
    if (!this.#draws.happens(this.failureRate)) return;
    throw Object.assign(new Error(`EIO: i/o error, ${operation}`), { code: 'EIO', syscall: operation });
  }

  #restore(key: string): boolean {
    const moved = this.#trash.get(key);
    if (!moved) return false;
    this.#trash.delete(key);
    this.#blobs.set(key, moved);
    return true;
  }

  #openReader(step: (operation: string) => Promise<void>): BlobReader {
    const [blobs, trash] = [this.#blobs, this.#trash];
    return {
      open: async (key, part) => {
        await step('open');
        this.#restore(key);
        const found = blobs.get(checkBlobKey(key));
        if (!found) throw new BlobMissingError(key);
        return Readable.from([cut(found.content, part)], { objectMode: false });
      },
      stat: async (key) => {
        await step('stat');
        const found = blobs.get(key);
        if (!found) return null;
        const { content, writtenAt, version } = found;
        return { bytes: content.length, writtenAt, version: String(version) };
      },
      async *list(writtenBefore) {
        await step('list');
        for (const [key, { writtenAt }] of [...blobs]) if (writtenAt < writtenBefore) yield key;
      },
      async *listTrash(movedBefore) {
        await step('list');
        for (const [key, { movedAt }] of [...trash]) if (movedAt < movedBefore) yield key;
      },
      readMarker: async () => this.#marker,
    };
  }

  #openTrash(
    step: (operation: string) => Promise<void>,
  ): Pick<BlobStore, 'moveToTrash' | 'restore' | 'purge'> {
    return {
      moveToTrash: async (key, now) => {
        await step('rename');
        const found = this.#blobs.get(key);
        if (!found) return;
        this.#blobs.delete(key);
        this.#trash.set(key, { ...found, movedAt: now });
      },
      restore: async (key) => {
        await step('rename');
        return this.#restore(key);
      },
      purge: async (key) => {
        await step('remove');
        if (this.#trash.delete(key)) this.onRemove(key);
      },
    };
  }
}

async function readWithin(source: Readable, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) throw new TooLargeError(bytesMax);
  }
  return Buffer.concat(chunks);
}

function cut(content: Buffer, part: BlobRange | null | undefined): Buffer {
  return part ? content.subarray(part.from, part.to + 1) : content;
}
