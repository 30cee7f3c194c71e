/**
 * Where large content lies: disk or an object store. A blob is written once under a key of ours and never changed;
 * nothing of it is visible before it is whole and durable.
 */
import type { Readable } from 'node:stream';

export interface StoredBlob {
  key: string;
  bytes: number;
  /** In hex. */
  sha256: string;
}

/** The content was longer than the caller allowed; nothing was kept. */
export class TooLargeError extends Error {
  readonly bytesMax: number;
  constructor(bytesMax: number) {
    super(`The content has more than ${bytesMax} bytes.`);
    this.bytesMax = bytesMax;
  }
}

/** Bytes of a blob, both ends included; the blob has them. */
export interface Part {
  from: number;
  to: number;
}

export interface BlobStore {
  /** Resolves once the blob is whole and durable; throws TooLargeError beyond `bytesMax`, or what the source threw. */
  put(key: string, source: Readable, bytesMax: number): Promise<StoredBlob>;
  /** The blob, or the part of it. Throws when there is no such blob. */
  open(key: string, part?: Part | null): Promise<Readable>;
  /** Does nothing when there is no such blob. */
  remove(key: string): Promise<void>;
  /** Keys of blobs last written before the instant. */
  list(writtenBefore: number): AsyncIterable<string>;
}
