const UNITS = ['B', 'kB', 'MB', 'GB'];

/** Returns a size in decimal units, such as `1.2 MB`; empty for an unknown one. */
export function formatBytes(bytes: number | undefined): string {
  if (bytes === undefined) return '';
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  const amount = bytes / 1000 ** power;
  return `${power === 0 ? bytes : amount.toFixed(amount < 10 ? 1 : 0)} ${UNITS[power]}`;
}
