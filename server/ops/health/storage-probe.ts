/**
 * Checks that this process can write to its storage, for `/readyz`, which removes a server from a load balancer. The probe
 * writes a row to the database, because a full, read-only or damaged one still serves reads from memory. Of folders it
 * checks free space and write permission. It caches the result for a second, because `/readyz` needs no token.
 */
import { access, constants } from 'node:fs/promises';
import { hasDiskSpace } from '@switchyard/runner';
import { probeDatabaseWrite } from '../../platform/blobs/identity.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { errorMessage } from '../../platform/log.ts';

const CACHE_MS = 1000;

interface Parts {
  database: Database;
  /** The folders that the server writes to. */
  folders: readonly string[];
  clock: Clock;
}

/** Checks the database and the folders of this process. */
export class StorageProbe {
  readonly kind: Database['kind'];
  readonly #parts: Parts;
  #last: { at: number; fault: Promise<string> } | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.kind = parts.database.kind;
  }

  /** Returns the first fault as a sentence; empty when storage is writable. The result is up to a second old. */
  findFault(): Promise<string> {
    const now = this.#parts.clock.elapsed();
    if (!this.#last || now - this.#last.at >= CACHE_MS) this.#last = { at: now, fault: this.#probe() };
    return this.#last.fault;
  }

  async #probe(): Promise<string> {
    const { database, folders } = this.#parts;
    for (const folder of folders) {
      const errorCode = await access(folder, constants.W_OK).then(() => '', readErrorCode);
      if (errorCode === 'EROFS') return `The disk of ${folder} is read-only; make it writable again.`;
      if (errorCode !== '') return `The folder ${folder} cannot be written to: ${errorCode}.`;
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

function readErrorCode(error: NodeJS.ErrnoException): string {
  return error.code ?? 'unknown';
}
