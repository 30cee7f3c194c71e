/** Writes content of unknown length to a file, counting and hashing it on the way; what both stores begin with. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type StoredBlob, TooLargeError } from './blob-store.ts';

/** How much of a large file is read or written at once: three times as fast as by the 64 KiB of a stream. */
export const FILE_CHUNK_BYTES = 256 * 1024;

/**
 * Throws TooLargeError beyond `bytesMax`, or what the source threw; the file is then the caller's to remove. `flush` waits
 * for the disk.
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
