/**
 * Makes text of the server harmless for a terminal. Names, labels and logs come from apps and other people. Escape sequences
 * in them could rewrite the screen, set the title or fill the clipboard. Bidirectional controls could reorder a line.
 */
import { stripVTControlCharacters } from 'node:util';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns the text without escape sequences, control characters and bidirectional controls. Tabs and line feeds stay. */
export function cleanText(text: string): string {
  return stripVTControlCharacters(text).replaceAll(CONTROLS, '');
}

/** Returns the text on one line, for a cell of a table. */
export function cleanLine(text: string): string {
  return cleanText(text).replaceAll(/\s+/g, ' ').trim();
}
