/** Formats numbers for the error messages of a run. */

/** Formats a size: 1536 → "1.5 KiB", 2048 → "2 KiB". */
export function formatBytes(bytes: number): string {
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

/** Formats a duration: 870000 → "870 s", 1500 → "1500 ms"; milliseconds below ten seconds. */
export function formatDuration(ms: number): string {
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}
