/**
 * Encodes the values of runs as text that sorts as the values do: numbers by size, then texts by their UTF-8 bytes. One
 * column, and one order on both databases, then serve every filter and every sort.
 */
import { createHash } from 'node:crypto';

const NUMBER = 'n';
const TEXT = 't';
/** A longer text is cut, so that an option of several kilobytes does not fill an index. */
const TEXT_CHARS_MAX = 128;
const TEXT_PREFIX_CHARS = 96;
const WORD_CHARS_MAX = 32;
const SIGN_BIT = 1n << 63n;
const ALL_BITS = (1n << 64n) - 1n;
const HEX_DIGITS = 16;
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** Stands for NUL and for half a surrogate pair. */
const REPLACEMENT_CHAR = '\u{fffd}';
/** The largest code point: greater than any continuation of a prefix. */
const LARGEST_CHAR = '\u{10ffff}';

/** Parses a decimal number; returns undefined for any other text and for a number beyond the range of a double. */
export function parseDecimal(text: string): number | undefined {
  const trimmed = text.trim();
  if (!DECIMAL.test(trimmed)) return undefined;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : undefined;
}

/** Encodes a finite number by its IEEE 754 bits: those of a negative number are inverted, so that all sort by size. */
export function encodeNumber(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  // -0 equals 0, but its bits differ.
  view.setFloat64(0, value === 0 ? 0 : value);
  const bits = view.getBigUint64(0);
  const ordered = bits & SIGN_BIT ? bits ^ ALL_BITS : bits | SIGN_BIT;
  return NUMBER + ordered.toString(16).padStart(HEX_DIGITS, '0');
}

/** Encodes a text. A long one is cut, and its hash keeps it distinct. No database stores NUL or half a surrogate pair. */
export function encodeText(text: string): string {
  const clean = text.toWellFormed().replaceAll('\0', REPLACEMENT_CHAR);
  if (clean.length <= TEXT_CHARS_MAX) return TEXT + clean;
  const hash = createHash('sha256')
    .update(clean)
    .digest('hex')
    .slice(0, 2 * HEX_DIGITS);
  return `${TEXT}${clean.slice(0, TEXT_PREFIX_CHARS).toWellFormed()}…${hash}`;
}

/** Encodes an indicator or an option: as a number if it is one or reads as one, else as text. */
export function encodeValue(value: number | string | boolean): string {
  const number = typeof value === 'string' ? parseDecimal(value) : value;
  return typeof number === 'number' && Number.isFinite(number)
    ? encodeNumber(number)
    : encodeText(String(value));
}

/** An interval of encoded values, with both ends. */
export interface ValueInterval {
  from: string;
  to: string;
}

/** Returns the interval of the texts that begin with the prefix. */
export function startWith(prefix: string): ValueInterval {
  return { from: encodeText(prefix), to: `${TEXT}${prefix}${LARGEST_CHAR}` };
}

/** Returns the interval of the numbers between the bounds; an undefined bound is open. */
export function lieBetween(from: number | undefined, to: number | undefined): ValueInterval {
  return {
    from: from === undefined ? NUMBER : encodeNumber(from),
    to: to === undefined ? NUMBER + LARGEST_CHAR : encodeNumber(to),
  };
}

/** The interval of all values. */
export const ANY_VALUE: ValueInterval = { from: '', to: LARGEST_CHAR };

/** Splits a text into its words, in lower case and each once: the parts between characters other than letters and digits. */
export function splitWords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.map((word) => word.slice(0, WORD_CHARS_MAX).toWellFormed()))];
}
