/**
 * Tells faults of the host, which pass or are repaired, from everything else that keeps an app from running. A run that
 * meets one is tried again, however often; anything else could be the app's doing.
 */

/** Out of disk space, descriptors, memory or processes; a disk that fails or that may not be written. */
const CODES: Record<string, string> = {
  ENOSPC: 'No space left on device',
  EDQUOT: 'Disk quota exceeded',
  EMFILE: 'Too many open files',
  ENFILE: 'Too many open files in system',
  ENOMEM: 'Cannot allocate memory',
  EAGAIN: 'Resource temporarily unavailable',
  EIO: 'Input/output error',
  EROFS: 'Read-only file system',
  ENOBUFS: 'No buffer space available',
};
const CAUSES_MAX = 8;

/**
 * Whether the error, or what caused it, is one of the operating system's for a host in trouble, or has `hostFault: true`,
 * by which those who open the executable and the input of a job say that their store is away.
 */
export function isHostFault(thrown: unknown): boolean {
  let error = thrown;
  for (let depth = 0; depth < CAUSES_MAX && error instanceof Error; depth += 1) {
    if ('hostFault' in error && error.hostFault === true) return true;
    if ('code' in error && Object.hasOwn(CODES, String(error.code))) return true;
    error = error.cause;
  }
  return false;
}

/** The field of an end that says so, to be spread into it. */
export function toHostFaultField(error: unknown): { hostFault?: true } {
  return isHostFault(error) ? { hostFault: true } : {};
}

/** The same of what a program of the chain printed, in the words of the C library. */
export function mentionsHostFault(text: string): boolean {
  return Object.values(CODES).some((words) => text.includes(words));
}
