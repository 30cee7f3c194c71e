/**
 * Checks JSON of any size as it comes and keeps only some of its fields, so that it takes no more memory than they do: 100
 * MB of small objects took 3.5 GB to parse, and most of a minute.
 *
 * A field longer than it may be is left out, and told.
 *
 * Accepts what JSON.parse accepts of the same bytes read as UTF-8, and keeps of a field that is there twice the last.
 */

/** Why the bytes are no JSON, in the words that follow "not JSON". */
export class NotJsonError extends Error {}

/** What may come next, or in which token the next byte stands. */
const VALUE = 0;
const VALUE_OR_END = 1;
const KEY = 2;
const KEY_OR_END = 3;
const COLON = 4;
const AFTER_VALUE = 5;
const TEXT = 6;
const ESCAPE = 7;
const HEX = 8;
const LITERAL = 9;
const MINUS = 10;
const ZERO = 11;
const DIGITS = 12;
const POINT = 13;
const FRACTION = 14;
const EXPONENT = 15;
const EXPONENT_SIGN = 16;
const EXPONENT_DIGITS = 17;

/** States in which a number may end. */
const NUMBER_ENDS: ReadonlySet<number> = new Set([ZERO, DIGITS, FRACTION, EXPONENT_DIGITS]);

const LITERALS: Record<string, Buffer> = {
  t: Buffer.from('true'),
  f: Buffer.from('false'),
  n: Buffer.from('null'),
};
const ESCAPES = new Set(Buffer.from('"\\/bfnrt'));
/** A key is looked at whole only when it may be one of those wanted, which are short. */
const KEY_BYTES_MAX = 256;

const [QUOTE, BACKSLASH, COMMA, COLON_BYTE, MINUS_BYTE, POINT_BYTE, PLUS] = Buffer.from('"\\,:-.+');
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, LOWER_U, DIGIT_0, DIGIT_9] =
  Buffer.from('{}[]u09');

const isSpace = (byte: number): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;
const isDigit = (byte: number): boolean => byte >= (DIGIT_0 ?? 0) && byte <= (DIGIT_9 ?? 0);
const isHex = (byte: number): boolean => isDigit(byte) || ((byte | 32) >= 97 && (byte | 32) <= 102);

export class JsonFieldExtractor {
  /** Bytes by field that were too many. */
  readonly oversizedFields = new Map<string, number>();
  /** By field, how many bytes it may have. */
  readonly #wanted: ReadonlyMap<string, number>;
  readonly #kept = new Map<string, string>();
  #state = VALUE;
  #depth = 0;
  /** Of each open container whether it is an object. */
  #objects = new Uint8Array(64);
  #isObject = false;
  #isKey = false;
  #literal: Buffer = Buffer.alloc(0);
  /** How far into a literal or an escape. */
  #within = 0;
  #at = 0;
  /** The bytes of a key of the outermost object, or of a field that is kept, as far as they have come. */
  #buffer: Buffer[] | null = null;
  #field = '';

  /** The fields to keep, each with how many bytes it may have. */
  constructor(wanted: Readonly<Record<string, number>>) {
    this.#wanted = new Map(Object.entries(wanted));
  }

  /** Throws NotJsonError at the first byte that cannot be. */
  write(bytes: Uint8Array): void {
    /** Where what is taken begins among these bytes. */
    let begin = 0;
    let state = this.#state;
    for (let n = 0; n < bytes.length; n += 1) {
      const byte = bytes[n] ?? 0;
      if (state === TEXT) {
        if (byte === QUOTE) {
          state = this.#isKey ? COLON : AFTER_VALUE;
          if (this.#depth === 1 && this.#buffer) this.#endBuffer(bytes, begin, n + 1);
        } else if (byte === BACKSLASH) state = ESCAPE;
        else if (byte < 32) this.#fail(byte, n);
        continue;
      }
      if (state >= ZERO || state === MINUS) {
        const next = numberAfter(state, byte);
        if (next >= 0) {
          state = next;
          continue;
        }
        if (!NUMBER_ENDS.has(state)) this.#fail(byte, n);
        state = AFTER_VALUE;
        if (this.#depth === 1 && this.#buffer) this.#endBuffer(bytes, begin, n);
        // The byte after a number is no part of it.
      }
      if (state === ESCAPE) {
        if (byte === LOWER_U) {
          state = HEX;
          this.#within = 0;
        } else if (ESCAPES.has(byte)) state = TEXT;
        else this.#fail(byte, n);
        continue;
      }
      if (state === HEX) {
        if (!isHex(byte)) this.#fail(byte, n);
        this.#within += 1;
        if (this.#within === 4) state = TEXT;
        continue;
      }
      if (state === LITERAL) {
        if (byte !== this.#literal[this.#within]) this.#fail(byte, n);
        this.#within += 1;
        if (this.#within < this.#literal.length) continue;
        state = AFTER_VALUE;
        if (this.#depth === 1 && this.#buffer) this.#endBuffer(bytes, begin, n + 1);
        continue;
      }
      if (isSpace(byte)) continue;
      if (state === AFTER_VALUE) {
        if (this.#depth === 0) this.#fail(byte, n);
        const inObject = this.#objects[this.#depth - 1] === 1;
        if (byte === COMMA) state = inObject ? KEY : VALUE;
        else if (byte === (inObject ? CLOSE_OBJECT : CLOSE_ARRAY)) this.#close(bytes, begin, n);
        else this.#fail(byte, n);
        continue;
      }
      if (state === COLON) {
        if (byte !== COLON_BYTE) this.#fail(byte, n);
        state = VALUE;
        continue;
      }
      if (state === KEY || state === KEY_OR_END) {
        if (byte === QUOTE) {
          this.#isKey = true;
          if (this.#depth === 1) {
            this.#buffer = [];
            begin = n;
          }
          state = TEXT;
        } else if (state === KEY_OR_END && byte === CLOSE_OBJECT) {
          state = AFTER_VALUE;
          this.#close(bytes, begin, n);
        } else this.#fail(byte, n);
        continue;
      }
      if (state === VALUE_OR_END && byte === CLOSE_ARRAY) {
        state = AFTER_VALUE;
        this.#close(bytes, begin, n);
        continue;
      }
      if (this.#depth === 1 && this.#field !== '') {
        this.#buffer = [];
        begin = n;
      }
      state = this.#begin(byte, n);
    }
    if (this.#buffer) this.#buffer.push(Buffer.from(bytes.subarray(begin)));
    this.#at += bytes.length;
    this.#state = state;
  }

  /** JSON text with the wanted fields of the object; `[]` for a value that is no object; empty when nothing came. */
  end(): string {
    if (this.#depth === 0 && this.#state === VALUE) return '';
    const isWhole = this.#depth === 0 && (this.#state === AFTER_VALUE || NUMBER_ENDS.has(this.#state));
    if (!isWhole) throw new NotJsonError('it ends before the JSON does');
    if (!this.#isObject) return '[]';
    return `{${[...this.#kept].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
  }

  #begin(byte: number, n: number): number {
    if (byte === QUOTE) {
      this.#isKey = false;
      return TEXT;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      const isObject = byte === OPEN_OBJECT;
      if (this.#depth === 0) this.#isObject = isObject;
      if (this.#depth === this.#objects.length) {
        const longer = new Uint8Array(this.#objects.length * 2);
        longer.set(this.#objects);
        this.#objects = longer;
      }
      this.#objects[this.#depth] = isObject ? 1 : 0;
      this.#depth += 1;
      return isObject ? KEY_OR_END : VALUE_OR_END;
    }
    if (byte === MINUS_BYTE) return MINUS;
    if (byte === DIGIT_0) return ZERO;
    if (isDigit(byte)) return DIGITS;
    const literal = LITERALS[String.fromCharCode(byte)];
    if (!literal) return this.#fail(byte, n);
    this.#literal = literal;
    this.#within = 1;
    return LITERAL;
  }

  #close(bytes: Uint8Array, begin: number, n: number): void {
    this.#depth -= 1;
    if (this.#depth === 1 && this.#buffer) this.#endBuffer(bytes, begin, n + 1);
  }

  /** A key or a field of the outermost object has come whole. */
  #endBuffer(bytes: Uint8Array, begin: number, end: number): void {
    const all = Buffer.concat([...(this.#buffer ?? []), bytes.subarray(begin, end)]);
    this.#buffer = null;
    if (this.#field !== '') {
      this.#kept.delete(this.#field);
      this.oversizedFields.delete(this.#field);
      if (all.length > (this.#wanted.get(this.#field) ?? 0))
        this.oversizedFields.set(this.#field, all.length);
      else this.#kept.set(this.#field, all.toString('utf8'));
      this.#field = '';
      return;
    }
    if (all.length > KEY_BYTES_MAX || !this.#isObject) return;
    const name = JSON.parse(all.toString('utf8')) as string;
    this.#field = this.#wanted.has(name) ? name : '';
  }

  #fail(byte: number, n: number): never {
    const shown = byte > 32 && byte < 127 ? `"${String.fromCharCode(byte)}"` : `a byte ${byte}`;
    throw new NotJsonError(`there is ${shown} at byte ${this.#at + n}, where it cannot be`);
  }
}

/** The state after one more byte of a number, or -1 when the byte is none of it. */
function numberAfter(state: number, byte: number): number {
  if (isDigit(byte)) {
    if (state === MINUS) return byte === DIGIT_0 ? ZERO : DIGITS;
    if (state === ZERO) return -1;
    if (state === POINT) return FRACTION;
    if (state === EXPONENT || state === EXPONENT_SIGN) return EXPONENT_DIGITS;
    return state;
  }
  if (byte === POINT_BYTE && (state === ZERO || state === DIGITS)) return POINT;
  if ((byte | 32) === 101 && (state === ZERO || state === DIGITS || state === FRACTION)) return EXPONENT;
  if ((byte === PLUS || byte === MINUS_BYTE) && state === EXPONENT) return EXPONENT_SIGN;
  return -1;
}
