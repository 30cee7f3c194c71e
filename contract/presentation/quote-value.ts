/** Values in messages. */

/** Quotes a value for a message: long text and numbers are truncated, arrays and objects are described. */
export function quoteValue(value: unknown): string {
  if (Array.isArray(value)) return `a JSON array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'a JSON object';
  return truncate(JSON.stringify(value) ?? String(value));
}

/** Truncates a text of a caller for a message, to 80 characters and an ellipsis. */
export function truncate(text: string): string {
  return text.length > QUOTED_CHARS_MAX ? `${text.slice(0, QUOTED_CHARS_MAX).toWellFormed()}…` : text;
}

const QUOTED_CHARS_MAX = 80;
