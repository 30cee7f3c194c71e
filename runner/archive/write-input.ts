/** Writes a run's input to the file that becomes its stdin. */
import { createWriteStream, writeFileSync } from 'node:fs';
import { readdir, rename, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RunFolder } from '../filesystem/run-folder.ts';

/** An input up to this size is written at once, which is cheaper than a stream. */
const SMALL_INPUT_BYTES = 64 * 1024;

const WRAPPING_FOLDERS = ['inputs', 'input'];

/** Writes a stream to a new file with the given mode. */
export async function writeInput(stream: Readable, path: string, mode: number): Promise<void> {
  const head: Uint8Array[] = [];
  let bytes = 0;
  const chunks: AsyncIterator<unknown> = stream[Symbol.asyncIterator]();
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    const chunk = toBytes(next.value);
    head.push(chunk);
    bytes += chunk.byteLength;
    if (bytes <= SMALL_INPUT_BYTES) continue;
    const remaining = { [Symbol.asyncIterator]: () => chunks };
    await pipeline(
      async function* () {
        yield* head;
        yield* remaining;
      },
      createWriteStream(path, { mode }),
    );
    return;
  }
  writeFileSync(path, Buffer.concat(head), { mode });
}

function toBytes(chunk: unknown): Uint8Array {
  return chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk));
}

/** Replaces the input by the content of its `input/` or `inputs/` folder when it contains nothing else. */
export async function unwrapInput(folder: RunFolder): Promise<void> {
  const [only, ...others] = await readdir(folder.input, { withFileTypes: true });
  if (only === undefined || others.length > 0 || !only.isDirectory()) return;
  if (!WRAPPING_FOLDERS.includes(only.name)) return;
  const aside = `${folder.input}-wrapped`;
  await rename(folder.input, aside);
  await rename(join(aside, only.name), folder.input);
  await rmdir(aside);
}
