/** Returns the text of a search parameter; undefined for none. The router reads a number in the address as a number. */
export function readText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
