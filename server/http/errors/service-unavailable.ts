/**
 * What is wrong with the machine and not with the request: a full disk, a database or a store that is away. It is answered
 * with 503 and the time after which to try again; every client of this API takes that for "later". 500 stays for faults of
 * ours.
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

/** Of the file system: no room, or none left for this user. */
const FULL_CODES = new Set(['ENOSPC', 'EDQUOT']);
/** A file system that became read-only, often after an error of the disk; a disk that fails; a share that went away. */
const READ_ONLY_CODES = new Set(['EROFS']);
const TRANSIENT_CODES = new Set(['EIO', 'ESTALE', 'ENOTCONN', 'ENODEV']);
/** Descriptors, memory or processes have run out. */
const OUT_OF_RESOURCES_CODES = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'ENOBUFS']);
const CAUSES_MAX = 8;

export interface Unavailable {
  message: string;
  /** null: trying again does not help before an operator has acted. */
  retryAfterSeconds: number | null;
}

/** What to answer, or null when the error is something else. What caused the error counts, too. */
export function classifyUnavailable(thrown: unknown): Unavailable | null {
  const damaged = findDamagedBlobError(thrown);
  if (damaged) return { message: damaged.message, retryAfterSeconds: null };
  let error = thrown;
  for (let depth = 0; depth < CAUSES_MAX && error instanceof Error; depth += 1) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (isDatabaseReadOnly(error) || READ_ONLY_CODES.has(code))
      return {
        message:
          'The disk of the server is read-only, so this cannot be stored; the operator has to make it writable again.',
        retryAfterSeconds: 60,
      };
    if (isDatabaseDamaged(error))
      return {
        message: 'The database of the server is damaged; the operator has to restore a backup.',
        retryAfterSeconds: null,
      };
    if (isDatabaseFull(error) || FULL_CODES.has(code))
      return {
        message: 'The disk of the server is full, so nothing can be stored. Free disk space, then retry.',
        retryAfterSeconds: 10,
      };
    if (OUT_OF_RESOURCES_CODES.has(code))
      return {
        message: 'The server is out of descriptors or memory. Retry later.',
        retryAfterSeconds: 2,
      };
    const isAway = isTransient(error) || error instanceof StoreUnavailableError || TRANSIENT_CODES.has(code);
    if (error instanceof S3Error ? error.retryable : isAway)
      return {
        message:
          'Storage is temporarily unavailable. The request may have taken effect: check before you retry.',
        retryAfterSeconds: 2,
      };
    error = error.cause;
  }
  return null;
}
