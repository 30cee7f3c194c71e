/** Text of values from apps, made harmless to read: controls and bidirectional marks are written as escapes. */

const HIDDEN_CHARACTERS = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Returns the text with each invisible character as `\uXXXX`, so that it cannot reorder or hide what stands beside it. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(HIDDEN_CHARACTERS, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
