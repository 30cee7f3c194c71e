/** Returns true if the text contains every typed word, in any order. Case does not matter. */
export function containsWords(text: string, typed: string): boolean {
  const words = typed.toLowerCase().split(/\s+/);
  return words.every((word) => text.toLowerCase().includes(word));
}
