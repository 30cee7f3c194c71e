/** Formats numbers for the error messages of a run. */

/** 1536 → "1.5 KiB"; whole numbers without a fraction. */
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

/** 870000 → "870 s"; under ten seconds with milliseconds. */
export function formatDuration(ms: number): string {
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}
