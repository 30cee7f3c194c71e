/** JSON text of values from apps, made harmless to read: controls and bidirectional marks are written as escapes. */
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';

/** Characters that JSON leaves as they are although they are invisible; within JSON text they are only in strings. */
const HIDDEN_IN_JSON = /[\p{Cf}\u007f-\u009f\u2028\u2029]/gu;

/** Returns compact JSON that shows every invisible character as an escape of JSON. A parser reads the same value from it. */
export function formatVisibleJson(value: unknown): string {
  return JSON.stringify(value).replace(HIDDEN_IN_JSON, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** Returns the lines of a program with each invisible character as an escape, to be read rather than run. */
export function escapeProgram(text: string): string {
  return text.split('\n').map(escapeInvisible).join('\n');
}

/** Returns a value as JSON text. Values that nest too deeply for that are named by their type. */
export function formatJson(value: unknown, indent = 0): string {
  try {
    return JSON.stringify(value, null, indent) ?? String(value);
  } catch {
    return Array.isArray(value) ? '[…]' : '{…}';
  }
}

/** Returns a value as the text of one cell of at most `charactersMax` characters. */
export function formatCell(value: unknown, charactersMax = 200): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : formatJson(value);
  return escapeInvisible(text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text);
}
