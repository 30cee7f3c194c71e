/**
 * What is wrong with the machine and not with the request: a full disk, a database or a store that is away. It is answered
 * with 503 and the time after which to try again; every client of this API takes that for "later". 500 stays for faults of
 * ours.
 */
import { S3Error } from '../blobs/s3-requests.ts';
import { isDatabaseAway, isDatabaseFull } from '../database/away.ts';

/** Of the file system: no room, or none left for this user. */
const FULL_CODES = new Set(['ENOSPC', 'EDQUOT']);
const CAUSES_MAX = 8;

export interface Unavailable {
  sentence: string;
  retryAfterSeconds: number;
}

/** What to answer, or null when the error is something else. What caused the error counts, too. */
export function unavailable(thrown: unknown): Unavailable | null {
  let error = thrown;
  for (let depth = 0; depth < CAUSES_MAX && error instanceof Error; depth += 1) {
    if (isDatabaseFull(error) || FULL_CODES.has((error as NodeJS.ErrnoException).code ?? ''))
      return {
        sentence: 'The disk of the server is full, so nothing can be stored. Free disk space, then retry.',
        retryAfterSeconds: 10,
      };
    if (error instanceof S3Error ? error.mayPass : isDatabaseAway(error))
      return {
        sentence:
          'Storage is temporarily unavailable. The request may have taken effect: check before you retry.',
        retryAfterSeconds: 2,
      };
    error = error.cause;
  }
  return null;
}
