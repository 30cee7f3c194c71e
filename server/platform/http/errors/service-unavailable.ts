/**
 * Errors of the machine, not of the request: a full disk, or an unavailable database or object store. The response is a 503
 * with Retry-After, on which every client of this API retries. A 500 means an internal error.
 */
import { StoreUnavailableError } from '../../blobs/blob-store.ts';
import { S3Error } from '../../blobs/s3-requests.ts';
import { findDamagedBlobError } from '../../blobs/verified-blobs.ts';
import {
  isDatabaseDamaged,
  isDatabaseFull,
  isDatabaseReadOnly,
  isTransient,
} from '../../database/transient-errors.ts';
import { NotReadyError } from './problem.ts';

/** The disk, or the quota of the user, is full. */
const FULL_CODES = new Set(['ENOSPC', 'EDQUOT']);
/** The kernel often makes a file system read-only after an error of the disk. */
const READ_ONLY_CODES = new Set(['EROFS']);
/** The disk fails, or the network share is disconnected. */
const TRANSIENT_CODES = new Set(['EIO', 'ESTALE', 'ENOTCONN', 'ENODEV']);
/** The process or the machine has no descriptors, memory or processes left. The last code is that of a thread without them. */
const OUT_OF_RESOURCES_CODES = new Set([
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EAGAIN',
  'ENOBUFS',
  'ERR_WORKER_INIT_FAILED',
]);
/** The error of `import()` for the package.json of a dependency has the code of a wrong file, and the kernel's words. */
const LOADER_OUT_OF_DESCRIPTORS =
  /^Cannot read package config .*: (too many open files|file table overflow)\.?$/;
const CAUSES_MAX = 8;

/** The content of a 503. */
interface Unavailable {
  message: string;
  /** null: a retry fails until an operator repairs the server. */
  retryAfterSeconds: number | null;
}

/** Reports whether a disk had no space left for the file or the database. */
export function isDiskFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return isDatabaseFull(error) || FULL_CODES.has(code);
}

/** Returns the content of the 503 for an error or one of its causes; null for any other error. */
export function classifyUnavailable(thrown: unknown): Unavailable | null {
  if (thrown instanceof NotReadyError) return thrown;
  const damaged = findDamagedBlobError(thrown);
  if (damaged) return { message: damaged.message, retryAfterSeconds: null };
  let error = thrown;
  for (let depth = 0; depth < CAUSES_MAX && error instanceof Error; depth += 1) {
    const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
    if (isDatabaseReadOnly(error) || READ_ONLY_CODES.has(code))
      return {
        message:
          'The disk of the server is read-only, so the server cannot store this. The operator has to make it writable again.',
        retryAfterSeconds: 60,
      };
    if (isDatabaseDamaged(error))
      return {
        message:
          'The database of the server is damaged. The operator has to find out by `npm run verify` what is missing.',
        retryAfterSeconds: null,
      };
    if (isDiskFull(error))
      return {
        message: 'The disk of the server is full, so nothing can be stored. Free disk space, then retry.',
        retryAfterSeconds: 10,
      };
    if (OUT_OF_RESOURCES_CODES.has(code) || LOADER_OUT_OF_DESCRIPTORS.test(error.message))
      return {
        message: 'The server is out of descriptors or memory. Retry later.',
        retryAfterSeconds: 2,
      };
    const isUnavailable =
      isTransient(error) || error instanceof StoreUnavailableError || TRANSIENT_CODES.has(code);
    if (error instanceof S3Error ? error.retryable : isUnavailable)
      return {
        message:
          'Storage is temporarily unavailable. The request may have taken effect: check before you retry.',
        retryAfterSeconds: 2,
      };
    error = error.cause;
  }
  return null;
}
