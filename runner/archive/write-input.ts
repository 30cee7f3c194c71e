/** Writes a run's input to the file that becomes its stdin, and the output of an earlier run beside it. */
import { createWriteStream, writeFileSync } from 'node:fs';
import { mkdir, readdir, rename, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RunFolder } from '../filesystem/run-folder.ts';
import type { RunSpec } from '../types.ts';
import { unpackArchive } from './archive.ts';

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

/** Writes the output of an earlier run below a new folder. Returns the name of its file, or '' for a folder of files. */
export async function writePrevious(
  { format, open }: RunSpec['input'],
  folder: string,
): Promise<'' | `output.${string}`> {
  await mkdir(folder);
  if (format === 'csv-archive' || format === 'multi-file') {
    await unpackArchive(await open(), folder);
    return '';
  }
  const name = `output.${format === 'json' ? 'json' : 'txt'}` as const;
  await writeInput(await open(), join(folder, name), 0o444);
  return name;
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
