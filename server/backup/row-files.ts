/**
 * Rows as they lie in a backup: a line of JSON for each, an array in the order of the columns, compressed with zstd; what
 * is bytes is `{"base64": …}`. Neither database is known to it, so that what one wrote another can read.
 */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { writeHashedFile } from '../blobs/hashed-file.ts';
import type { Row } from '../database/maintenance/snapshot-connection.ts';

/** Quick: a backup shares the machine with a server. Levels above it make a tenth less of it in twice the time. */
const LEVEL = 1;
const NEWLINE = 0x0a;
/** What is compressed at once. */
const CHUNK_CHARACTERS = 256 * 1024;

export interface RowFile {
  rows: number;
  bytes: number;
  sha256: string;
}

/** Writes the file, waits for the disk, and answers what is in it. */
export async function writeRows(
  path: string,
  columns: readonly string[],
  source: AsyncIterable<Row[]>,
): Promise<RowFile> {
  let rows = 0;
  async function* lines(): AsyncGenerator<string> {
    let piece = '';
    for await (const some of source) {
      for (const row of some) {
        piece += `${JSON.stringify(columns.map((column) => written(row[column])))}\n`;
        if (piece.length < CHUNK_CHARACTERS) continue;
        yield piece;
        piece = '';
      }
      rows += some.length;
    }
    if (piece !== '') yield piece;
  }
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
  const text = Readable.from(lines());
  // What `pipe` leaves out: who reads the compressed bytes is to be told why there are no more.
  text.once('error', (error) => compress.destroy(error));
  const measured = await writeHashedFile(path, text.pipe(compress), Number.POSITIVE_INFINITY, {
    flush: true,
  });
  return { rows, ...measured };
}

/** The rows of the file, each an array in the order of its columns. */
export async function* readRows(path: string): AsyncGenerator<unknown[]> {
  const file = createReadStream(path);
  const text = createZstdDecompress();
  file.once('error', (error) => text.destroy(error));
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of file.pipe(text) as AsyncIterable<Buffer>) {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      for (let end = all.indexOf(NEWLINE); end >= 0; end = all.indexOf(NEWLINE, from)) {
        yield (JSON.parse(all.toString('utf8', from, end)) as unknown[]).map(read);
        from = end + 1;
      }
      rest = all.subarray(from);
    }
  } finally {
    file.destroy();
  }
}

function written(value: unknown): unknown {
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value;
}

function read(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  return Buffer.from((value as { base64: string }).base64, 'base64');
}
