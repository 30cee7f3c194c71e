/**
 * Checks JSON of any size piece by piece and extracts some fields of the outermost object. It takes no more memory than
 * these fields: JSON.parse took 3.5 GB and most of a minute for 100 MB of small objects.
 *
 * It drops a field above its size limit and records the size. It accepts exactly the bytes that JSON.parse accepts after
 * decoding as UTF-8. Of a repeated field it extracts the last, as JSON.parse does.
 */

/** The bytes are not JSON; the message is the detail that follows "not JSON". */
export class NotJsonError extends Error {}

/** States of the parser: the token that may come next, or the token that contains the next byte. */
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
/** A longer key is no wanted field, because the names of these are short. */
const KEY_BYTES_MAX = 256;

const [QUOTE, BACKSLASH, COMMA, COLON_BYTE, MINUS_BYTE, POINT_BYTE, PLUS] = Buffer.from('"\\,:-.+');
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, LOWER_U, DIGIT_0, DIGIT_9] =
  Buffer.from('{}[]u09');

const isSpace = (byte: number): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;
const isDigit = (byte: number): boolean => byte >= (DIGIT_0 ?? 0) && byte <= (DIGIT_9 ?? 0);
const isHex = (byte: number): boolean => isDigit(byte) || ((byte | 32) >= 97 && (byte | 32) <= 102);

/** Extracts fields from one JSON text; call `write` for each piece, then `end`. */
export class JsonFieldExtractor {
  /** The size in bytes of each field that exceeded its limit. */
  readonly oversizedFields = new Map<string, number>();
  readonly #bytesMaxByField: ReadonlyMap<string, number>;
  readonly #extracted = new Map<string, string>();
  #state = VALUE;
  #depth = 0;
  /** For each open container 1 if it is an object, 0 for an array. */
  #objects = new Uint8Array(64);
  /** True if the outermost value is an object. */
  #isObject = false;
  #isKey = false;
  #literal: Buffer = Buffer.alloc(0);
  /** The number of checked bytes of the current literal or escape. */
  #tokenOffset = 0;
  #piece: Uint8Array = new Uint8Array(0);
  /** The offset of the current piece in the JSON. */
  #pieceOffset = 0;
  /** The earlier pieces of a key of the outermost object, or of a wanted field; null outside of these. */
  #buffer: Buffer[] | null = null;
  /** The start of the buffered bytes in the current piece. */
  #bufferStart = 0;
  /** The wanted field whose value comes next, or is being read; empty for any other. */
  #field = '';

  /** Extracts the given fields, each up to its number of bytes. */
  constructor(bytesMaxByField: Readonly<Record<string, number>>) {
    this.#bytesMaxByField = new Map(Object.entries(bytesMaxByField));
  }

  /** Checks the next piece. Throws NotJsonError at the first byte that JSON does not allow there. */
  write(piece: Uint8Array): void {
    this.#piece = piece;
    this.#bufferStart = 0;
    let state = this.#state;
    for (let index = 0; index < piece.length; index += 1) {
      const byte = piece[index] ?? 0;
      // Text and numbers are most of a large output, so they stay in this loop, without a call for each byte.
      if (state === TEXT) {
        if (byte === QUOTE) {
          state = this.#isKey ? COLON : AFTER_VALUE;
          this.#endToken(index + 1);
        } else if (byte === BACKSLASH) state = ESCAPE;
        else if (byte < 32) this.#fail(byte, index);
        continue;
      }
      if (state >= ZERO || state === MINUS) {
        const next = numberAfter(state, byte);
        if (next >= 0) {
          state = next;
          continue;
        }
        if (!NUMBER_ENDS.has(state)) this.#fail(byte, index);
        state = AFTER_VALUE;
        this.#endToken(index);
        // The byte after a number belongs to the next token.
      }
      state =
        state === ESCAPE || state === HEX || state === LITERAL
          ? this.#continueToken(state, byte, index)
          : isSpace(byte)
            ? state
            : this.#beginToken(state, byte, index);
    }
    if (this.#buffer) this.#buffer.push(Buffer.from(piece.subarray(this.#bufferStart)));
    this.#pieceOffset += piece.length;
    this.#state = state;
  }

  /**
   * Returns JSON text with the extracted fields of the object, `[]` for a value that is no object, and an empty text for
   * white space. Throws NotJsonError when the JSON is incomplete.
   */
  end(): string {
    if (this.#depth === 0 && this.#state === VALUE) return '';
    const isComplete = this.#depth === 0 && (this.#state === AFTER_VALUE || NUMBER_ENDS.has(this.#state));
    if (!isComplete) throw new NotJsonError('it ends before the JSON does');
    if (!this.#isObject) return '[]';
    return `{${[...this.#extracted].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
  }

  /** Returns the state after one more byte of an escape or a literal. */
  #continueToken(state: number, byte: number, index: number): number {
    if (state === ESCAPE) {
      this.#tokenOffset = 0;
      if (byte === LOWER_U) return HEX;
      return ESCAPES.has(byte) ? TEXT : this.#fail(byte, index);
    }
    const isExpected = state === HEX ? isHex(byte) : byte === this.#literal[this.#tokenOffset];
    if (!isExpected) this.#fail(byte, index);
    this.#tokenOffset += 1;
    if (state === HEX) return this.#tokenOffset === 4 ? TEXT : HEX;
    if (this.#tokenOffset < this.#literal.length) return LITERAL;
    this.#endToken(index + 1);
    return AFTER_VALUE;
  }

  /** Returns the state after a byte that begins a token. */
  #beginToken(state: number, byte: number, index: number): number {
    if (state === AFTER_VALUE) {
      if (this.#depth === 0) this.#fail(byte, index);
      const inObject = this.#objects[this.#depth - 1] === 1;
      if (byte === COMMA) return inObject ? KEY : VALUE;
      return byte === (inObject ? CLOSE_OBJECT : CLOSE_ARRAY)
        ? this.#closeContainer(index)
        : this.#fail(byte, index);
    }
    if (state === COLON) return byte === COLON_BYTE ? VALUE : this.#fail(byte, index);
    if (state === KEY || state === KEY_OR_END) {
      if (state === KEY_OR_END && byte === CLOSE_OBJECT) return this.#closeContainer(index);
      if (byte !== QUOTE) this.#fail(byte, index);
      this.#isKey = true;
      if (this.#depth === 1) this.#beginBuffer(index);
      return TEXT;
    }
    if (state === VALUE_OR_END && byte === CLOSE_ARRAY) return this.#closeContainer(index);
    if (this.#depth === 1 && this.#field !== '') this.#beginBuffer(index);
    return this.#beginValue(byte, index);
  }

  #beginValue(byte: number, index: number): number {
    if (byte === QUOTE) {
      this.#isKey = false;
      return TEXT;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) return this.#openContainer(byte === OPEN_OBJECT);
    if (byte === MINUS_BYTE) return MINUS;
    if (byte === DIGIT_0) return ZERO;
    if (isDigit(byte)) return DIGITS;
    const literal = LITERALS[String.fromCharCode(byte)];
    if (!literal) return this.#fail(byte, index);
    this.#literal = literal;
    this.#tokenOffset = 1;
    return LITERAL;
  }

  #openContainer(isObject: boolean): number {
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

  #closeContainer(index: number): number {
    this.#depth -= 1;
    this.#endToken(index + 1);
    return AFTER_VALUE;
  }

  #beginBuffer(index: number): void {
    this.#buffer = [];
    this.#bufferStart = index;
  }

  /** Ends a token before the byte at `end`; at depth 1 it completes a buffered key or field. */
  #endToken(end: number): void {
    if (this.#depth !== 1 || !this.#buffer) return;
    const bytes = Buffer.concat([...this.#buffer, this.#piece.subarray(this.#bufferStart, end)]);
    this.#buffer = null;
    if (this.#field === '') this.#selectField(bytes);
    else {
      this.#storeField(this.#field, bytes);
      this.#field = '';
    }
  }

  #selectField(key: Buffer): void {
    if (key.length > KEY_BYTES_MAX || !this.#isObject) return;
    const name: unknown = JSON.parse(key.toString('utf8'));
    this.#field = typeof name === 'string' && this.#bytesMaxByField.has(name) ? name : '';
  }

  #storeField(field: string, value: Buffer): void {
    this.#extracted.delete(field);
    this.oversizedFields.delete(field);
    if (value.length > (this.#bytesMaxByField.get(field) ?? 0)) this.oversizedFields.set(field, value.length);
    else this.#extracted.set(field, value.toString('utf8'));
  }

  #fail(byte: number, index: number): never {
    const quoted = byte > 32 && byte < 127 ? `"${String.fromCharCode(byte)}"` : `a byte ${byte}`;
    throw new NotJsonError(`there is ${quoted} at byte ${this.#pieceOffset + index}, where it cannot be`);
  }
}

/** Returns the state after one more byte of a number; -1 when the byte does not belong to the number. */
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
