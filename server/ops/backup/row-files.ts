/**
 * Files of rows in a backup, compressed with zstd: one line of JSON for each row, an array in the order of the columns. Bytes
 * are `{"base64": …}`, and an integer that a double does not hold is `{"integer": "9007199254740993"}`. The format does not depend on the database, so that a backup of one restores into the other.
 */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type from 'typebox';
import { iterateBuffers, writeHashedFile } from '../../platform/blobs/hashed-file.ts';
import type { Row } from '../../platform/database/maintenance/snapshot-connection.ts';

/** The fastest level, because a backup shares the machine with a server. Higher levels save a tenth in twice the time. */
const COMPRESSION_LEVEL = 1;
const NEWLINE = 0x0a;
/** Characters to compress in one write. */
const CHUNK_CHARACTERS = 256 * 1024;

/** Content of a written file. */
export interface RowFile {
  rows: number;
  bytes: number;
  sha256: string;
}

/** Writes the rows to the file. It does not wait for the disk, so that a snapshot is not open meanwhile. */
export async function writeRows(
  path: string,
  columns: readonly string[],
  source: AsyncIterable<Row[]>,
): Promise<RowFile> {
  let rows = 0;
  async function* lines(): AsyncGenerator<string> {
    let piece = '';
    for await (const batch of source) {
      for (const row of batch) {
        piece += `${JSON.stringify(columns.map((column) => encodeValue(row[column])))}\n`;
        if (piece.length < CHUNK_CHARACTERS) continue;
        yield piece;
        piece = '';
      }
      rows += batch.length;
    }
    if (piece !== '') yield piece;
  }
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: COMPRESSION_LEVEL } });
  const text = Readable.from(lines());
  // `pipe` does not forward errors: the reader of the compressed bytes needs them.
  text.once('error', (error) => compress.destroy(error));
  const measured = await writeHashedFile(path, text.pipe(compress), Number.POSITIVE_INFINITY);
  return { rows, ...measured };
}

const parseValues = createJsonParser(Type.Array(Type.Unknown()));

/** Yields the rows of the file, each an array in the order of its columns. */
export async function* readRows(path: string): AsyncGenerator<unknown[]> {
  const file = createReadStream(path);
  const text = createZstdDecompress();
  file.once('error', (error) => text.destroy(error));
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of iterateBuffers(file.pipe(text))) {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      for (let end = all.indexOf(NEWLINE); end >= 0; end = all.indexOf(NEWLINE, from)) {
        yield parseValues(all.toString('utf8', from, end), path).map(decodeValue);
        from = end + 1;
      }
      rest = all.subarray(from);
    }
  } finally {
    file.destroy();
  }
}

function encodeValue(value: unknown): unknown {
  if (typeof value === 'bigint') return { integer: String(value) };
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value;
}

function decodeValue(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if ('integer' in value) return BigInt(String(value.integer));
  return 'base64' in value ? Buffer.from(String(value.base64), 'base64') : value;
}
