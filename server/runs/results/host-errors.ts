/** Tells errors of the host from errors of the app and of this program. */
import { isHostFault } from '@switchyard/runner';
import { classifyUnavailable } from '../../http/errors/service-unavailable.ts';

/** SQLite's codes for a host without memory, a database that may not be written, and one that cannot be opened. */
const SQLITE_CODES = new Set([7, 8, 14]);

/** Returns true for an error of the host, its disk, the database or the blob store: transient, or repaired by an operator. */
export function isHostError(error: unknown): boolean {
  if (isHostFault(error) || classifyUnavailable(error) !== null) return true;
  const { errcode } = (error ?? {}) as { errcode?: number };
  return typeof errcode === 'number' && SQLITE_CODES.has(errcode & 0xff);
}
