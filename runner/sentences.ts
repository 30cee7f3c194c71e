/** The few ways numbers are said in the sentences users read about a run. */

/** 1536 → "1.5 KiB"; whole numbers without a fraction. */
export function bytesInWords(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const rounded = Number.isInteger(value) ? String(value) : value.toFixed(1);
  return `${rounded} ${units[unit] ?? 'bytes'}`;
}

/** 870000 → "870 s"; under ten seconds with milliseconds. */
export function durationInWords(ms: number): string {
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}

/** What an unknown thrown value says for itself. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
