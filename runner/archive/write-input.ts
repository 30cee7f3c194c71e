/** Writes a run's input to the file that becomes its stdin. */
import { createWriteStream, writeFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Up to this size the input is written in one go; a stream to a file costs more than such a file. */
const SMALL_BYTES = 64 * 1024;

export async function writeInput(stream: Readable, path: string, mode: number): Promise<void> {
  const head: Uint8Array[] = [];
  let bytes = 0;
  const chunks: AsyncIterator<unknown> = stream[Symbol.asyncIterator]();
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    const chunk = asBytes(next.value);
    head.push(chunk);
    bytes += chunk.byteLength;
    if (bytes <= SMALL_BYTES) continue;
    const rest = { [Symbol.asyncIterator]: () => chunks };
    await pipeline(
      async function* () {
        yield* head;
        yield* rest;
      },
      createWriteStream(path, { mode }),
    );
    return;
  }
  writeFileSync(path, Buffer.concat(head), { mode });
}

function asBytes(chunk: unknown): Uint8Array {
  return chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk));
}
