/**
 * Separates host faults, which pass or are repaired, from errors that the app may have caused. The server retries a run
 * that ended by a host fault without counting the attempt.
 */

/** Disk space, descriptors, memory or processes exhausted; a disk that fails or is read-only. Values: texts of the C library. */
const HOST_FAULTS: Record<string, string> = {
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
const MAX_CAUSES = 8;

/**
 * Returns whether the error or one of its causes has a code of HOST_FAULTS or the property `hostFault: true`. Callers set
 * that property when `open` of an executable or an input fails because their storage is unavailable.
 */
export function isHostFault(thrown: unknown): boolean {
  let error = thrown;
  for (let depth = 0; depth < MAX_CAUSES && error instanceof Error; depth += 1) {
    if ('hostFault' in error && error.hostFault === true) return true;
    if ('code' in error && Object.hasOwn(HOST_FAULTS, String(error.code))) return true;
    error = error.cause;
  }
  return false;
}

/** Returns the field `hostFault` of an outcome, to be spread into it. */
export function toHostFaultField(error: unknown): { hostFault?: true } {
  return isHostFault(error) ? { hostFault: true } : {};
}

/** Returns whether the output of a program contains the message of a host fault. */
export function mentionsHostFault(text: string): boolean {
  return Object.values(HOST_FAULTS).some((words) => text.includes(words));
}
