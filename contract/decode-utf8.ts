/**
 * Decodes text without replacing bytes: a number or a name with replacement letters is a wrong one. A byte order mark at the
 * start is no part of the text. Other encodings are refused with the position and the encoding that they look like.
 */

/** The bytes are not UTF-8; the message is the detail that follows "not UTF-8". */
export class NotUtf8Error extends SyntaxError {}

const decoder = new TextDecoder('utf-8', { fatal: true });
/** A byte order mark in UTF-8. */
const MARK = [0xef, 0xbb, 0xbf];
/** A character has at most four bytes, so a piece ends with at most three of an unfinished one. */
const UNFINISHED_BYTES_MAX = 3;

/** Returns the text. Throws NotUtf8Error for bytes in another encoding. */
export function decodeUtf8(bytes: Uint8Array): string {
  assertEncoding(bytes);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new NotUtf8Error(describePosition(bytes, 0));
  }
}

/** Checks text that comes in pieces; call `write` for each piece, then `end`. Both throw NotUtf8Error. */
export class Utf8Check {
  #unfinished: Uint8Array = new Uint8Array(0);
  /** The offset of the unfinished bytes in the text. */
  #offset = 0;

  /** Returns the piece, without a byte order mark if it is the first one. */
  write(piece: Uint8Array): Uint8Array {
    const isMarked = this.#offset === 0 && MARK.every((byte, index) => byte === piece[index]);
    const bytes = new Uint8Array(this.#unfinished.length + piece.length);
    bytes.set(this.#unfinished);
    bytes.set(piece, this.#unfinished.length);
    if (this.#offset === 0) assertEncoding(bytes);
    const end = bytes.length - countUnfinished(bytes);
    try {
      decoder.decode(bytes.subarray(0, end));
    } catch {
      throw new NotUtf8Error(describePosition(bytes, this.#offset));
    }
    this.#unfinished = bytes.slice(end);
    this.#offset += end;
    return isMarked ? piece.subarray(MARK.length) : piece;
  }

  end(): void {
    if (this.#unfinished.length > 0) throw new NotUtf8Error(describePosition(this.#unfinished, this.#offset));
  }
}

/**
 * Recognises UTF-16 by its first two bytes, and returns its name and the first of them that no text in UTF-8 has; null for
 * any other text. Without a mark, half of the bytes of its ASCII letters are zero, which is also UTF-8.
 */
export function recognizeUtf16([first, second]: Uint8Array): Utf16 | null {
  if (first === undefined || second === undefined) return null;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (!isMarked && (first === 0) === (second === 0)) return null;
  const isLittleEndian = isMarked ? first === 0xff : second === 0;
  return { name: isLittleEndian ? 'UTF-16 LE' : 'UTF-16 BE', byte: isMarked || first === 0 ? 0 : 1 };
}

interface Utf16 {
  name: 'UTF-16 LE' | 'UTF-16 BE';
  byte: 0 | 1;
}

function assertEncoding(bytes: Uint8Array): void {
  const utf16 = recognizeUtf16(bytes);
  if (!utf16) return;
  const { name, byte } = utf16;
  throw new NotUtf8Error(`byte ${byte} is ${formatByte(bytes[byte] ?? 0)}; it looks like ${name}`);
}

/** Describes the first byte that is not UTF-8; `offset` is that of the bytes in the text. */
function describePosition(bytes: Uint8Array, offset: number): string {
  let at = 0;
  while (at < bytes.length) {
    const length = measureCharacter(bytes, at);
    if (length === 0) break;
    at += length;
  }
  const byte = bytes[at] ?? 0;
  const rest = bytes.length - at;
  // A first byte alone at the end is rather a letter of another encoding.
  if (rest > 1 && countUnfinished(bytes) === rest)
    return `it ends after byte ${offset + bytes.length - 1}, inside a character`;
  // Both have one byte for each letter; only Windows-1252 has letters below 0xA0.
  const guess = byte < 0xa0 ? 'Windows-1252' : 'Latin-1 or Windows-1252';
  return `byte ${offset + at} is ${formatByte(byte)}; it looks like ${guess}`;
}

function formatByte(byte: number): string {
  return `0x${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

/** Returns the length of the character at the position; 0 for bytes that are none. */
function measureCharacter(bytes: Uint8Array, at: number): number {
  const length = countBytes(bytes[at] ?? 0);
  if (length < 2) return length;
  try {
    decoder.decode(bytes.subarray(at, at + length));
    return length;
  } catch {
    return 0;
  }
}

/** Returns the number of bytes of a character by its first one; 0 for a byte that begins none. */
function countBytes(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/** Returns the number of bytes at the end that begin a character without its other bytes. */
function countUnfinished(bytes: Uint8Array): number {
  for (let count = 1; count <= Math.min(UNFINISHED_BYTES_MAX, bytes.length); count += 1) {
    const byte = bytes[bytes.length - count] ?? 0;
    if (byte >= 0xc0) return countBytes(byte) > count ? count : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}
