/**
 * Makes text of the server harmless for a terminal. Names, labels and logs come from apps and other people. Escape sequences
 * in them could rewrite the screen, set the title or fill the clipboard. Bidirectional controls could reorder a line.
 */
import { stripVTControlCharacters } from 'node:util';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape begins a colour.
const STYLES = /(\u001b\[[\d;]*m)/;

/** Returns the text without escape sequences, control characters and bidirectional controls. Tabs and line feeds stay. */
export function cleanText(text: string): string {
  return stripVTControlCharacters(text).replaceAll(CONTROLS, '');
}

/** Returns the text as `cleanText` does, with the colours of `Style`. */
export function cleanStyledText(text: string): string {
  return text
    .split(STYLES)
    .map((part, index) => (index % 2 === 0 ? cleanText(part) : part))
    .join('');
}

/** Returns the same JSON with the characters escaped that `cleanText` removes. */
export function escapeControls(json: string): string {
  return json.replaceAll(
    CONTROLS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns a function that cleans a stream of UTF-8, chunk by chunk. */
export function createTextCleaner(): (chunk: Uint8Array) => string {
  const decoder = new TextDecoder();
  return (chunk) => cleanText(decoder.decode(chunk, { stream: true }));
}

/** Returns the text on one line, for a cell of a table. */
export function cleanLine(text: string): string {
  return cleanText(text).replaceAll(/\s+/g, ' ').trim();
}
