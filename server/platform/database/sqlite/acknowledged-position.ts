/**
 * The end of the acknowledged part of the WAL, in a small file beside the database. Commits that failed on a full disk, or
 * that a power cut interrupted, look in the WAL like damage that lost acknowledged commits. This position tells a start
 * which of the two it sees.
 *
 * Invariants: the file is written after the sync of the WAL and before the responses, so it never names an unsynced frame,
 * and a killed process leaves the exact position. It is not synced: after a power cut it may name an earlier frame. An
 * unwritable position is removed, because "unknown" is true and an old one is not. A clean stop removes it too, before the WAL
 * moves into the database file. So a position without a WAL says that the WAL is lost, or that another program moved it.
 */
import {
  closeSync,
  constants,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { readWalFrames, readWalHeader } from './wal-frames.ts';

/** A place in one generation of the WAL. */
export interface WalPosition {
  /** The salt of the generation, in hexadecimal digits. */
  salt: string;
  /** The number of frames. */
  frames: number;
}

const FORMAT = /^([0-9a-f]{16}) (\d{10})\n$/;

const locateFile = (database: string): string => `${database}-acknowledged`;

/** Returns the acknowledged position of the database at the path; null if there is none. */
export function readAcknowledgedPosition(database: string): WalPosition | null {
  let text = '';
  try {
    text = readFileSync(locateFile(database), 'latin1');
  } catch {
    return null;
  }
  const [, salt = '', frames] = FORMAT.exec(text) ?? [];
  return frames === undefined ? null : { salt, frames: Number(frames) };
}

/**
 * Returns true if the position is younger than the last write to the database file: the commits up to it are in the WAL
 * alone.
 */
export function isNewerThanDatabase(database: string): boolean {
  const readTime = (path: string): bigint | undefined =>
    statSync(path, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
  const [position, file] = [readTime(locateFile(database)), readTime(database)];
  return position !== undefined && file !== undefined && position >= file;
}

/** Stores the position after each sync of the WAL. */
export class AcknowledgedPosition {
  readonly #database: string;
  readonly #wal: number;
  readonly #progress: StatementSync;
  readonly #file: number;
  #last: WalPosition | null;

  /** `wal` is the descriptor of the WAL, `connection` one of its readers. */
  constructor(database: string, wal: number, connection: DatabaseSync) {
    this.#database = database;
    this.#wal = wal;
    this.#progress = connection.prepare('pragma wal_checkpoint(noop)');
    this.#last = readAcknowledgedPosition(database);
    this.#file = openSync(locateFile(database), constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  /** Call it before a sync. Returns the function that stores the end of the WAL at this moment, for the end of the sync. */
  prepare(): () => void {
    const position = this.#readEnd();
    return () => this.#store(position);
  }

  /**
   * Writes the frames behind the position again. After a failed sync the kernel treats their pages as written, and the next
   * sync would report success without them. Throws if they cannot be read back.
   */
  rewriteUnsynced(): void {
    const header = readWalHeader(this.#wal);
    const end = this.#readEnd();
    if (!header || !end) return;
    const after = this.#last?.salt === end.salt ? this.#last.frames : 0;
    let reached = after;
    for (const { number, at, bytes, isReadable } of readWalFrames(this.#wal, header, after)) {
      if (number > end.frames || !isReadable) break;
      writeSync(this.#wal, bytes, 0, bytes.length, at);
      reached = number;
    }
    if (reached < end.frames)
      throw new Error(
        `the disk lost frame ${reached + 1} of ${end.frames} of the WAL after a failed sync; restart the server`,
      );
  }

  /** Removes the position. Call it at a clean stop, after the last sync and before the connections close. */
  remove(): void {
    closeSync(this.#file);
    rmSync(locateFile(this.#database), { force: true });
  }

  /** Returns the last commit in the WAL; null while another process restarts the WAL. */
  #readEnd(): WalPosition | null {
    const salt = readWalHeader(this.#wal)?.salt.toString('hex');
    const frames = Number(this.#progress.get()?.log);
    const isSame = readWalHeader(this.#wal)?.salt.toString('hex') === salt;
    return salt !== undefined && isSame ? { salt, frames } : null;
  }

  #store(position: WalPosition | null): void {
    if (position === null) return;
    try {
      const text = `${position.salt} ${String(position.frames).padStart(10, '0')}\n`;
      writeSync(this.#file, text, 0, 'latin1');
      this.#last = position;
    } catch {
      this.#last = null;
      ftruncateSync(this.#file);
    }
  }
}
