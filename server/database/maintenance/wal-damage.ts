/**
 * Finds damage in SQLite's write-ahead log (WAL). SQLite reads a WAL up to the first frame with a wrong checksum and drops
 * the rest silently. One changed byte therefore makes the database older, or empty, without an error. The WAL of a killed
 * process has no commits behind a bad frame; only damage, or a power cut during a sync, causes them.
 * Format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */
import { closeSync, copyFileSync, existsSync, fstatSync, fsyncSync, openSync, readSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The last bit is the byte order of the checksums. */
const MAGIC = 0x377f0682;

/** Returns the number of whole commits behind the first damaged frame; 0 when the WAL has no damage or does not exist. */
export function countDroppedCommits(path: string): number {
  if (!existsSync(path)) return 0;
  const file = openSync(path, 'r');
  try {
    return countDropped(file, fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}

function countDropped(file: number, bytes: number): number {
  const header = Buffer.alloc(HEADER_BYTES);
  if (readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return 0;
  if (header.every((byte) => byte === 0)) return 0;
  const magic = header.readUInt32BE(0);
  const isBig = (magic & 1) === 1;
  const pageBytes = header.readUInt32BE(8);
  let sum = checksum([0, 0], header.subarray(0, 24), isBig);
  let isWhole =
    (magic & ~1) >>> 0 === MAGIC && header.readUInt32BE(24) === sum[0] && header.readUInt32BE(28) === sum[1];
  // The server creates databases with pages of 4096 bytes, so a header with an invalid page size is damaged.
  const page =
    pageBytes >= 512 && pageBytes <= 65_536 && (pageBytes & (pageBytes - 1)) === 0 ? pageBytes : 4096;
  const salt = header.subarray(16, 24);
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + page);
  let dropped = 0;
  for (let at = HEADER_BYTES; at + frame.length <= bytes; at += frame.length) {
    if (isWhole) {
      readSync(file, frame, 0, frame.length, at);
      sum = checksum(checksum(sum, frame.subarray(0, 8), isBig), frame.subarray(FRAME_HEADER_BYTES), isBig);
      isWhole =
        frame.subarray(8, 16).equals(salt) &&
        frame.readUInt32BE(16) === sum[0] &&
        frame.readUInt32BE(20) === sum[1];
      if (isWhole) continue;
    } else readSync(file, frame, 0, FRAME_HEADER_BYTES, at);
    // Frames from before the last restart of the WAL have other salts. A commit frame has the size of the database.
    if (frame.subarray(8, 16).equals(salt) && frame.readUInt32BE(4) > 0) dropped += 1;
  }
  return dropped;
}

/** Continues the checksum of the file format over the bytes. */
function checksum(
  [first, second]: readonly [number, number],
  bytes: Buffer,
  isBig: boolean,
): [number, number] {
  let one = first;
  let two = second;
  for (let at = 0; at < bytes.length; at += 8) {
    one = (one + (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + two) >>> 0;
    two = (two + (isBig ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + one) >>> 0;
  }
  return [one, two];
}

/**
 * Copies the WAL of the stopped database, because the next writes overwrite it, and returns the path of the copy. Then moves
 * the readable commits into the database file, so that the next start finds no damage. `now`, in milliseconds since the
 * epoch, becomes part of the file name.
 */
export function archiveDamagedWal(database: string, now: number): string {
  const copy = `${database}-wal.damaged-${new Date(now).toISOString().replaceAll(':', '-')}`;
  copyFileSync(`${database}-wal`, copy);
  const file = openSync(copy, 'r');
  fsyncSync(file);
  closeSync(file);
  // The last connection to close moves the WAL into the database and removes it.
  const connection = new DatabaseSync(database);
  try {
    connection.prepare('select count(*) from sqlite_schema').get();
  } finally {
    connection.close();
  }
  return copy;
}
