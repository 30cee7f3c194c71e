/** Makes lines of a log safe and readable as plain text. Apps write them, so they may contain anything. Pure. */

/** Escape sequences of terminals (ECMA-48): titles and links, then colours and cursor movements, then the rest. */
const TERMINAL_SEQUENCES = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with them
  /(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u009c|\u001b\\)?/gu,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with them
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?/gu,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with them
  /\u001b[ -/]*[0-~]?/gu,
];
const CONTROLS = /[^\P{Cc}\t]/gu;
/** Characters that change the direction of text, by which a line can show other words than it contains. */
const DIRECTION_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
/** In a text of several lines, the characters that cleaning may change. */
const SPECIAL_IN_TEXT = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const SPECIAL = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/**
 * Returns a line without escape sequences and control characters. Of a progress line that overwrites itself, the last state
 * remains. Characters that change the direction of text are shown by their code.
 */
export function cleanLogLine(line: string): string {
  // Nearly all lines are plain. This check makes a million of them four times as fast.
  if (!SPECIAL.test(line)) return line;
  const text = TERMINAL_SEQUENCES.reduce((rest, sequence) => rest.replace(sequence, ''), line);
  const states = text.split('\r');
  const last = states.findLast((state) => state !== '') ?? '';
  return last
    .replace(CONTROLS, '')
    .replace(
      DIRECTION_CONTROLS,
      (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
    );
}

/** Returns false if `cleanLogLine` returns each line of the text unchanged. */
export function hasSpecialCharacters(text: string): boolean {
  return SPECIAL_IN_TEXT.test(text);
}

/** Returns the lines of a whole log; a final line break begins no line. */
export function splitLog(log: string): string[] {
  const lines = log.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
