/** Splits what a person enters as a list. */

/** Returns the parts of a text that commas separate. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Returns the words of a text that white space or commas separate, each of them once. */
export function splitWords(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((word) => word !== ''))];
}
