/** Checks and conversions of parsed JSON values that all blocks of an output share. */

/** Returns true for a JSON object, false for arrays and null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Replaces NUL by U+FFFD: apps can print it, and text columns of PostgreSQL cannot store it. */
export function replaceNul(text: string): string {
  return text.replaceAll('\0', '\u{fffd}');
}
