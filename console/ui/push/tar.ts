/**
 * Writes and reads tar archives in the browser. The packages for it need Node or write no names above 100 characters.
 * Format: POSIX.1-1988 (ustar), https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html
 */

const BLOCK_BYTES = 512;
const NAME_BYTES_MAX = 100;
const PREFIX_BYTES_MAX = 155;
const CHECKSUM_OFFSET = 148;
const CHECKSUM_BYTES = 8;
/** A longer file is no text that a person wrote. */
const TEXT_BYTES_MAX = 1_048_576;

/** A file of an archive. */
export interface TarEntry {
  /** Path with slashes, relative to the root of the archive. */
  name: string;
  content: Blob;
  isExecutable: boolean;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns the parts of an uncompressed archive. Throws for a name that the format cannot hold. */
export function createTar(entries: readonly TarEntry[]): Blob {
  const parts = entries.flatMap((entry) => [
    createHeader(entry),
    entry.content,
    new Uint8Array((BLOCK_BYTES - (entry.content.size % BLOCK_BYTES)) % BLOCK_BYTES),
  ]);
  return new Blob([...parts, new Uint8Array(2 * BLOCK_BYTES)]);
}

function createHeader({ name, content, isExecutable }: TarEntry): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(BLOCK_BYTES);
  const write = (offset: number, text: string) => header.set(encoder.encode(text), offset);
  const { base, prefix } = splitName(name);
  write(0, base);
  write(100, isExecutable ? '0000755\0' : '0000644\0');
  write(108, '0000000\0');
  write(116, '0000000\0');
  write(124, `${content.size.toString(8).padStart(11, '0')}\0`);
  write(136, '00000000000\0');
  write(CHECKSUM_OFFSET, ' '.repeat(CHECKSUM_BYTES));
  write(156, '0');
  write(257, 'ustar\0');
  write(263, '00');
  write(345, prefix);
  const sum = header.reduce((total, byte) => total + byte, 0);
  write(CHECKSUM_OFFSET, `${sum.toString(8).padStart(6, '0')}\0 `);
  return header;
}

/** A long name is cut at a slash: the format has a field for the folders before it. */
function splitName(name: string): { base: string; prefix: string } {
  if (encoder.encode(name).length <= NAME_BYTES_MAX) return { base: name, prefix: '' };
  for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) {
    const prefix = name.slice(0, at);
    const base = name.slice(at + 1);
    if (encoder.encode(base).length <= NAME_BYTES_MAX && encoder.encode(prefix).length <= PREFIX_BYTES_MAX)
      return { base, prefix };
  }
  throw new Error(`The path ${name} is too long for an archive. Shorten its folders.`);
}

/** Returns the text of a file at the root of a gzip tar; undefined without one. It reads no more than it must. */
export async function readTarFile(archive: Blob, name: string): Promise<string | undefined> {
  const bytes = new ByteReader(archive.stream().pipeThrough(new DecompressionStream('gzip')));
  for (;;) {
    const header = await bytes.read(BLOCK_BYTES);
    if (!header || header[0] === 0) return undefined;
    const entry = readField(header, 0, NAME_BYTES_MAX).replace(/^\.\//, '');
    const size = Number.parseInt(readField(header, 124, 12).trim() || '0', 8);
    if (entry !== name) {
      await bytes.skip(Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES);
      continue;
    }
    const content = size <= TEXT_BYTES_MAX ? await bytes.read(size) : undefined;
    await bytes.close();
    return content && decoder.decode(content);
  }
}

/** Reads a stream in pieces of a chosen size. Skipped bytes are not held in memory. */
class ByteReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #buffered = new Uint8Array();

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** Returns the next bytes; undefined if the stream ends before. */
  async read(count: number): Promise<Uint8Array | undefined> {
    while (this.#buffered.length < count) {
      const { value, done } = await this.#reader.read();
      if (done) return undefined;
      const joined = new Uint8Array(this.#buffered.length + value.length);
      joined.set(this.#buffered);
      joined.set(value, this.#buffered.length);
      this.#buffered = joined;
    }
    const bytes = this.#buffered.slice(0, count);
    this.#buffered = this.#buffered.slice(count);
    return bytes;
  }

  async skip(count: number): Promise<void> {
    let left = count - this.#buffered.length;
    this.#buffered = this.#buffered.slice(count);
    while (left > 0) {
      const { value, done } = await this.#reader.read();
      if (done) return;
      this.#buffered = value.slice(left);
      left -= value.length;
    }
  }

  close(): Promise<void> {
    return this.#reader.cancel();
  }
}

function readField(header: Uint8Array, offset: number, bytes: number): string {
  const field = header.slice(offset, offset + bytes);
  const end = field.indexOf(0);
  return decoder.decode(end < 0 ? field : field.slice(0, end));
}
