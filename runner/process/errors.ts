/** Message and code of thrown values. */

/** Returns the message of an error, or a thrown value that is no error as a string. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns whether the value is an error of the operating system with one of these codes (`ENOENT`). */
export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
