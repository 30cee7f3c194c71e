/**
 * Reads blobs and compares them with the hash from when they were written. A missing, truncated or changed blob causes an
 * error; a reader never receives it as if it were whole.
 *
 * - Up to 1 MiB the server compares the whole blob before it sends the first byte, also for a part.
 * - It hashes a larger blob while it sends it, and keeps the last chunk until the hash matches. No reader therefore receives
 *   a damaged blob in full length: the response ends early.
 * - For a part of a larger blob, it hashes the whole blob once, and again when the store reports a new version.
 *
 * Measured: hashing takes 0.55 ms for 1 MiB. Reading 500 MiB from the page cache takes 80 to 130 ms of processor time, and
 * 355 ms with hashing.
 */
import { createHash } from 'node:crypto';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BlobMissingError, type BlobRange, type BlobStore } from './blob-store.ts';
import { iterateBuffers } from './hashed-file.ts';

const BUFFERED_BYTES_MAX = 1024 * 1024;
/** Number of verified versions to remember, for the parts of a download that resumes again and again. */
const VERIFIED_KEYS_MAX = 1000;

/** A blob as its row describes it. */
export interface ReferencedBlob {
  key: string;
  bytes: number;
  sha256: string;
}

/** The kinds of damage, as the metric names them. */
export type Damage = 'missing' | 'truncated' | 'changed';

const DESCRIPTIONS: Record<Damage, string> = {
  missing: 'is missing from the blob store',
  truncated: 'has another length than was stored',
  changed: 'has another SHA-256 than was stored',
};

/** The stored content is damaged. `message` is for callers; the key of the blob is for the operator. */
export class DamagedBlobError extends Error {
  readonly key: string;
  readonly damage: Damage;
  constructor(key: string, damage: Damage, cause?: unknown) {
    super(
      `The stored content is damaged: its blob ${DESCRIPTIONS[damage]}. Retrying does not help. The operator can find it with \`npm run verify\` and restore it from a backup.`,
      { cause },
    );
    this.key = key;
    this.damage = damage;
  }
}

/** Returns the damaged blob that caused an error, or null. */
export function findDamagedBlobError(thrown: unknown): DamagedBlobError | null {
  let error = thrown;
  for (let depth = 0; depth < 8 && error instanceof Error; depth += 1) {
    if (error instanceof DamagedBlobError) return error;
    error = error.cause;
  }
  return null;
}

/** Opens blobs with verification. */
export class VerifiedBlobs {
  readonly #blobs: Pick<BlobStore, 'open' | 'stat'>;
  readonly #onDamage: (error: DamagedBlobError) => void;
  /** By key, the version of the blob whose hash matched. */
  readonly #verified = new Map<string, string>();
  readonly #verifying = new Map<string, Promise<void>>();

  constructor(blobs: Pick<BlobStore, 'open' | 'stat'>, onDamage: (error: DamagedBlobError) => void) {
    this.#blobs = blobs;
    this.#onDamage = onDamage;
  }

  /** Opens the blob, or the part of it. Throws DamagedBlobError, also while the stream is read. */
  async open(blob: ReferencedBlob, part: BlobRange | null = null): Promise<Readable> {
    if (blob.bytes <= BUFFERED_BYTES_MAX) {
      const whole = await this.#readWhole(blob);
      return Readable.from([part ? whole.subarray(part.from, part.to + 1) : whole], { objectMode: false });
    }
    if (part) {
      await this.#verifyOnce(blob);
      return this.#openAny(blob, part);
    }
    return this.#openHashed(blob);
  }

  async #readWhole(blob: ReferencedBlob): Promise<Buffer> {
    const hash = createHash('sha256');
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of iterateBuffers(await this.#openAny(blob))) {
      bytes += chunk.length;
      if (bytes > blob.bytes) break;
      hash.update(chunk);
      chunks.push(chunk);
    }
    this.#compare(blob, bytes, hash.digest('hex'));
    return Buffer.concat(chunks);
  }

  async #openHashed(blob: ReferencedBlob): Promise<Readable> {
    const source = await this.#openAny(blob);
    const state = await this.#blobs.stat(blob.key).catch(() => null);
    if (state && state.bytes !== blob.bytes) {
      source.destroy();
      throw this.#damaged(blob, 'truncated');
    }
    const hash = createHash('sha256');
    let bytes = 0;
    let lastChunk: Buffer | null = null;
    const verify = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        hash.update(chunk);
        bytes += chunk.length;
        const previous = lastChunk;
        lastChunk = chunk;
        if (previous) done(null, previous);
        else done();
      },
      flush: (done) => {
        try {
          this.#compare(blob, bytes, hash.digest('hex'));
          done(null, lastChunk);
        } catch (error) {
          done(error instanceof Error ? error : new Error(String(error)));
        }
      },
    });
    // `pipeline` destroys `verify` with the error, which its reader receives.
    pipeline(source, verify).catch(() => {});
    return verify;
  }

  async #verifyOnce(blob: ReferencedBlob): Promise<void> {
    const version = (await this.#blobs.stat(blob.key))?.version ?? '';
    if (version !== '' && this.#verified.get(blob.key) === version) return;
    const underWay =
      this.#verifying.get(blob.key) ?? this.#hashAll(blob).finally(() => this.#verifying.delete(blob.key));
    this.#verifying.set(blob.key, underWay);
    await underWay;
    this.#verified.delete(blob.key);
    this.#verified.set(blob.key, version);
    if (this.#verified.size > VERIFIED_KEYS_MAX)
      this.#verified.delete(this.#verified.keys().next().value ?? '');
  }

  async #hashAll(blob: ReferencedBlob): Promise<void> {
    for await (const _ of await this.#openHashed(blob));
  }

  async #openAny({ key }: ReferencedBlob, part: BlobRange | null = null): Promise<Readable> {
    try {
      return await this.#blobs.open(key, part);
    } catch (error) {
      if (error instanceof BlobMissingError) throw this.#damaged({ key }, 'missing', error);
      throw error;
    }
  }

  #compare(blob: ReferencedBlob, bytes: number, sha256: string): void {
    if (bytes !== blob.bytes) throw this.#damaged(blob, 'truncated');
    if (blob.sha256 !== sha256) throw this.#damaged(blob, 'changed');
  }

  #damaged({ key }: { key: string }, damage: Damage, cause?: unknown): DamagedBlobError {
    const error = new DamagedBlobError(key, damage, cause);
    this.#onDamage(error);
    return error;
  }
}
