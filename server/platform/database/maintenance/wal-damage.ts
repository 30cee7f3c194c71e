/**
 * Finds commits that SQLite loses because of damage in its write-ahead log (WAL). SQLite reads a WAL up to the first frame
 * with a wrong checksum and drops the rest silently. One changed byte therefore makes the database older, or empty, without
 * an error.
 *
 * Unreadable commits are not damage by themselves. A commit that failed, for example on a full disk, leaves its frames behind
 * the shorter commit that followed, and so does a commit that a power cut interrupted. No caller got a response to either.
 * Only the acknowledged position tells.
 */
import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isNewerThanDatabase, readAcknowledgedPosition } from '../sqlite/acknowledged-position.ts';
import { readWalFrames, readWalHeader } from '../sqlite/wal-frames.ts';

/** Acknowledged commits that SQLite cannot read. */
export interface WalDamage {
  /** The number of whole commits behind the first unreadable frame; 0 where the WAL is cut off or missing. */
  droppedCommits: number;
  /** `unknown`: the acknowledged position is missing, so all of them may have failed before. */
  wereAcknowledged: true | 'unknown';
}

/** Returns the damage of the WAL of the database at the path; null when no acknowledged commit is known to be lost. */
export function findWalDamage(database: string): WalDamage | null {
  const path = `${database}-wal`;
  if (!existsSync(path)) return findMissing(database);
  const file = openSync(path, 'r');
  try {
    return findDamage(file, database);
  } finally {
    closeSync(file);
  }
}

/** Returns a sentence fragment for messages. */
export function describeWalDamage({ droppedCommits, wereAcknowledged }: WalDamage): string {
  if (droppedCommits === 0)
    return 'the log of the database is missing or cut off before its last acknowledged commits';
  return wereAcknowledged === true
    ? `the log of the database is damaged: ${droppedCommits} commits behind the damage are lost, acknowledged ones among them`
    : `the log of the database ends in ${droppedCommits} unreadable commits: they failed, or the log was damaged after they were acknowledged`;
}

/** Returns the damage of a database without a WAL, or with one that SQLite takes for empty. */
function findMissing(database: string): WalDamage | null {
  const acknowledged = readAcknowledgedPosition(database);
  // Another program that closed the database has written the commits into its file.
  if (acknowledged === null || acknowledged.frames === 0 || !isNewerThanDatabase(database)) return null;
  return { droppedCommits: 0, wereAcknowledged: true };
}

function findDamage(file: number, database: string): WalDamage | null {
  // Read before the frames, which a running server appends meanwhile.
  const acknowledged = readAcknowledgedPosition(database);
  const header = readWalHeader(file);
  if (!header) return findMissing(database);
  let readableFrames = 0;
  let droppedCommits = 0;
  for (const { number, isReadable, isCommit } of readWalFrames(file, header)) {
    if (!isCommit) continue;
    if (isReadable) readableFrames = number;
    else droppedCommits += 1;
  }
  // A running server that has restarted the WAL meanwhile has overwritten its first frames.
  if (readWalHeader(file)?.salt.equals(header.salt) === false) return findDamage(file, database);
  if (acknowledged === null)
    return droppedCommits === 0 ? null : { droppedCommits, wereAcknowledged: 'unknown' };
  // Everything that was acknowledged in another generation is in the database file: that is when SQLite restarts a WAL.
  const isLost = acknowledged.salt === header.salt.toString('hex') && acknowledged.frames > readableFrames;
  return isLost ? { droppedCommits, wereAcknowledged: true } : null;
}

/**
 * Copies the WAL of the stopped database, because the next writes overwrite it, and returns the path of the copy; null
 * without a WAL. Then moves
 * the readable commits into the database file, so that the next start finds no damage. `now`, in milliseconds since the
 * epoch, becomes part of the file name. Throws, without a change, if the disk has no space for the copy.
 */
export function archiveDamagedWal(database: string, now: number): string | null {
  if (!existsSync(`${database}-wal`)) return null;
  const copy = `${database}-wal.damaged-${new Date(now).toISOString().replaceAll(':', '-')}`;
  try {
    copyFileSync(`${database}-wal`, copy);
    const file = openSync(copy, 'r');
    fsyncSync(file);
    closeSync(file);
  } catch (error) {
    rmSync(copy, { force: true });
    throw error;
  }
  // The last connection to close moves the WAL into the database and removes it.
  const connection = new DatabaseSync(database);
  try {
    connection.prepare('select count(*) from sqlite_schema').get();
  } finally {
    connection.close();
  }
  return copy;
}
