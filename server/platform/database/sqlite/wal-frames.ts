/**
 * Reads the frames of SQLite's write-ahead log (WAL). Format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 *
 * The checksum of a frame continues that of the frame before it. SQLite reads a WAL up to the first frame that breaks this
 * chain, and ignores the rest.
 */
import { readSync } from 'node:fs';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The last bit is the byte order of the checksums. */
const MAGIC = 0x377f0682;

type Checksum = readonly [number, number];

interface WalHeader {
  /** False if its checksum is wrong. SQLite then ignores the WAL. */
  isWhole: boolean;
  /** Differs after each restart of the WAL from its beginning. Frames with another salt are older. */
  salt: Buffer;
  pageBytes: number;
  isBig: boolean;
  sum: Checksum;
}

interface WalFrame {
  /** Counts from 1. */
  number: number;
  /** Position in the file, in bytes. */
  at: number;
  /** Header and page. Valid until the next frame is read, and only in a readable frame. */
  bytes: Buffer;
  /** True while this frame and all before it continue the chain. */
  isReadable: boolean;
  /** True if the frame has the salt of the header and ends a commit. */
  isCommit: boolean;
}

/** Returns the header of the open WAL; null for a WAL without frames. */
export function readWalHeader(file: number): WalHeader | null {
  const start = Buffer.alloc(HEADER_BYTES + FRAME_HEADER_BYTES);
  if (readSync(file, start, 0, start.length, 0) < HEADER_BYTES) return null;
  if (start.every((byte) => byte === 0)) return null;
  const header = start.subarray(0, HEADER_BYTES);
  const magic = header.readUInt32BE(0);
  const isBig = (magic & 1) === 1;
  const pageBytes = header.readUInt32BE(8);
  const sum = extendChecksum([0, 0], header.subarray(0, 24), isBig);
  const isWhole =
    (magic & ~1) >>> 0 === MAGIC && header.readUInt32BE(24) === sum[0] && header.readUInt32BE(28) === sum[1];
  // The server creates databases with pages of 4096 bytes, so a header with an invalid page size is damaged.
  const isPageSize = pageBytes >= 512 && pageBytes <= 65_536 && (pageBytes & (pageBytes - 1)) === 0;
  // The first frame repeats the salt of a damaged header.
  const salt = isWhole ? header.subarray(16, 24) : start.subarray(HEADER_BYTES + 8, HEADER_BYTES + 16);
  return { isWhole, salt, pageBytes: isPageSize ? pageBytes : 4096, isBig, sum };
}

/** Yields the frames behind the one with the number `after`, which the caller knows to be readable; 0 begins at the first. */
export function* readWalFrames(
  file: number,
  { isWhole, salt, pageBytes, isBig, sum }: WalHeader,
  after = 0,
): Generator<WalFrame> {
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + pageBytes);
  const locate = (number: number): number => HEADER_BYTES + (number - 1) * frame.length;
  let last = sum;
  if (after > 0) {
    readSync(file, frame, 0, FRAME_HEADER_BYTES, locate(after));
    last = [frame.readUInt32BE(16), frame.readUInt32BE(20)];
  }
  let isReadable = isWhole;
  for (let number = after + 1; ; number += 1) {
    const at = locate(number);
    if (readSync(file, frame, 0, frame.length, at) < frame.length) return;
    const hasSalt = frame.subarray(8, 16).equals(salt);
    if (isReadable) {
      const page = frame.subarray(FRAME_HEADER_BYTES);
      last = extendChecksum(extendChecksum(last, frame.subarray(0, 8), isBig), page, isBig);
      isReadable = hasSalt && frame.readUInt32BE(16) === last[0] && frame.readUInt32BE(20) === last[1];
    }
    // A commit frame has the size of the database.
    yield { number, at, bytes: frame, isReadable, isCommit: hasSalt && frame.readUInt32BE(4) > 0 };
  }
}

/** Continues the checksum of the file format over the bytes. */
function extendChecksum([first, second]: Checksum, bytes: Buffer, isBig: boolean): Checksum {
  let one = first;
  let two = second;
  for (let at = 0; at < bytes.length; at += 8) {
    one = (one + (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + two) >>> 0;
    two = (two + (isBig ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + one) >>> 0;
  }
  return [one, two];
}
