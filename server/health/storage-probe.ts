/**
 * Whether this process can store anything just now: for `/readyz`, which takes a server out of a load balancer. The
 * database is asked to write a row, because a full, read-only or damaged one still answers reads from memory; folders are
 * asked for free space and for the right to write. The result is kept for a second, because anybody may ask.
 */
import { access, constants } from 'node:fs/promises';
import { hasDiskSpace } from '@switchyard/runner';
import { probeDatabaseWrite } from '../blobs/identity.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { errorMessage } from '../log.ts';

const CACHE_MS = 1000;

interface Parts {
  database: Database;
  /** Those that the server writes to. */
  folders: readonly string[];
  clock: Clock;
}

export class StorageProbe {
  readonly kind: Database['kind'];
  readonly #parts: Parts;
  #last: { at: number; found: Promise<string> } | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.kind = parts.database.kind;
  }

  /** A sentence, or empty. */
  findFault(): Promise<string> {
    const now = this.#parts.clock.elapsed();
    if (!this.#last || now - this.#last.at >= CACHE_MS) this.#last = { at: now, found: this.#look() };
    return this.#last.found;
  }

  async #look(): Promise<string> {
    const { database, folders } = this.#parts;
    for (const folder of folders) {
      const refused = await access(folder, constants.W_OK).then(() => '', codeOf);
      if (refused === 'EROFS') return `The disk of ${folder} is read-only; make it writable again.`;
      if (refused !== '') return `The folder ${folder} cannot be written to: ${refused}.`;
      if (!hasDiskSpace(folder)) return `The disk of ${folder} is full; free disk space.`;
    }
    try {
      await database.ping();
      await database.transact(probeDatabaseWrite);
      return '';
    } catch (error) {
      return `The database cannot be written to: ${errorMessage(error)}`;
    }
  }
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? 'unknown';
}
