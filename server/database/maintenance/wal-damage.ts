/**
 * Looks for damage in SQLite's write-ahead log. SQLite reads a WAL up to the first frame whose checksum is wrong and
 * silently drops the rest, so a changed byte makes the database older, or empty, without an error. A process that is
 * killed leaves a WAL that ends; only damage, or a power cut in the middle of a sync, leaves commits behind a bad frame.
 * Format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */
import { closeSync, copyFileSync, existsSync, fstatSync, fsyncSync, openSync, readSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The last bit says in which byte order checksums are made. */
const MAGIC = 0x377f0682;

/** Returns how many whole commits lie behind the first damaged frame; 0 when the log has no damage. */
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
  // The page size of every database made here; a header in which even that is wrong tells nothing about frames.
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
    // Frames of an earlier round of the log have other salts. A commit has the size of the database.
    if (frame.subarray(8, 16).equals(salt) && frame.readUInt32BE(4) > 0) dropped += 1;
  }
  return dropped;
}

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
 * Copies the log of the stopped database aside, because the next writes go over it, and moves what SQLite can read of it
 * into the database file, so that the damage is found once. Returns the path of the copy.
 */
export function archiveDamagedWal(database: string, now: number): string {
  const copy = `${database}-wal.damaged-${new Date(now).toISOString().replaceAll(':', '-')}`;
  copyFileSync(`${database}-wal`, copy);
  const file = openSync(copy, 'r');
  fsyncSync(file);
  closeSync(file);
  // The last connection to close moves the log into the database and removes it.
  const connection = new DatabaseSync(database);
  try {
    connection.prepare('select count(*) from sqlite_schema').get();
  } finally {
    connection.close();
  }
  return copy;
}
