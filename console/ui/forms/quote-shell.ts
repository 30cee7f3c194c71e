/** Quotes a text for a POSIX shell. The text may contain quotes and line breaks. */
export function quoteShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
