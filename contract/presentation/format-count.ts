/** Counts and capitals in sentences. */

/** Formats a count: "1 input", "12 inputs". */
export function formatCount(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}

/** Returns the text with a capital first letter. */
export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns the text with typographic quotes around what has straight ones, as names in sentences of the server do. */
export function curlQuotes(text: string): string {
  return text.replaceAll(/"([^"]*)"/g, '“$1”');
}
