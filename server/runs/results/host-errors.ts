/** Distinguishes errors of the host from errors of the app and of this program. */
import { isHostFault } from '@switchyard/runner';
import { classifyUnavailable } from '../../platform/http/errors/service-unavailable.ts';

/** SQLITE_NOMEM, SQLITE_READONLY and SQLITE_CANTOPEN: https://sqlite.org/rescode.html. */
const SQLITE_HOST_ERROR_CODES = new Set([7, 8, 14]);

/** Returns true for an error of the host, its disk, the database or the blob store: transient, or repaired by an operator. */
export function isHostError(error: unknown): boolean {
  if (isHostFault(error) || classifyUnavailable(error) !== null) return true;
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return false;
  // The low byte is the primary code, the others extend it.
  return SQLITE_HOST_ERROR_CODES.has(error.errcode & 0xff);
}
