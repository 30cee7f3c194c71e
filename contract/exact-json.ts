/**
 * JSON whose numbers keep their digits. JavaScript reads a number as a double, which holds 15 to 17 digits, and writes
 * 12345678901234567890 as 12345678901234567000. Node.js 20 has neither `context.source` nor `JSON.rawJSON`.
 *
 * `parseExactJson` is for code that reads the numbers: they are doubles, and their object remembers the digits. For a value that
 * goes unread into a text, a mark in place of the number costs nothing but a search for it.
 */

/** Begins a string that stands for a number. It is random, so no text from outside begins with it. */
const MARK = `number:${globalThis.crypto.randomUUID()}:`;
const MARKED = new RegExp(`"?${MARK}([-+.\\deE]+)"?`, 'g');

/** A double holds every number of 15 digits. */
const LONG_NUMBER = /[\d.]{16}/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Python reads no integer of more than 4,300 digits. A longer number than this is written as the double. */
const DIGITS_MAX = 100;

/** Returns the JSON with a mark in place of each number that a double would change. The text is valid JSON. */
export function markExactNumbers(json: string): string {
  if (!LONG_NUMBER.test(json)) return json;
  let marked = '';
  let copied = 0;
  for (let index = 0; index < json.length; ) {
    const code = json.charCodeAt(index);
    if (code === QUOTE) index = findStringEnd(json, index);
    else if (code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9)) {
      NUMBER.lastIndex = index;
      const literal = NUMBER.exec(json)?.[0] ?? '-';
      const end = index + literal.length;
      if (needsMark(literal)) {
        marked += `${json.slice(copied, index)}"${MARK}${literal}"`;
        copied = end;
      }
      index = end;
    } else index += 1;
  }
  return marked + json.slice(copied);
}

const [QUOTE, MINUS, DIGIT_0, DIGIT_9, BACKSLASH] = [0x22, 0x2d, 0x30, 0x39, 0x5c];

/** Returns the index behind the string that begins at the index. */
function findStringEnd(json: string, start: number): number {
  for (let quote = json.indexOf('"', start + 1); quote !== -1; quote = json.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return json.length;
}

function needsMark(literal: string): boolean {
  if (literal.length < 16 || literal.length > DIGITS_MAX) return false;
  const written = String(Number(literal));
  return (
    written !== literal &&
    Number.isFinite(Number(literal)) &&
    normalizeDecimal(written) !== normalizeDecimal(literal)
  );
}

/** Returns one text for all literals of a number: `1.50` and `15e-1` are equal. */
function normalizeDecimal(literal: string): string {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Writes the digits in place of the marks in JSON or CSV. */
export function writeMarkedNumbers(json: string): string {
  return json.includes(MARK) ? json.replace(MARKED, '$1') : json;
}

/** Returns the value as JSON, with the digits in place of the marks. */
export function formatMarkedJson(value: unknown): string {
  return writeMarkedNumbers(JSON.stringify(value));
}

/** The digits of an object's numbers by key. A copy by spreading has them too, and JSON.stringify ignores them. */
const DIGITS = Symbol('digits of numbers');

type Holder = Record<PropertyKey, unknown>;

/** Parses JSON. The numbers are doubles, and `formatExactJson` writes them with the digits of the text. */
export function parseExactJson(json: string): unknown {
  const marked = markExactNumbers(json);
  if (marked === json) return JSON.parse(json);
  return unlessTooDeep(
    (): unknown => JSON.parse(marked, readDigits),
    (): unknown => JSON.parse(json),
  );
}

function readDigits(this: Holder, key: string, value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith(MARK)) return value;
  const digits = value.slice(MARK.length);
  const known = this[DIGITS];
  if (known instanceof Map) known.set(key, digits);
  else this[DIGITS] = new Map([[key, digits]]);
  return Number(digits);
}

/** A function of the caller for each value makes JavaScript recurse, and values may nest deeper than its stack. */
function unlessTooDeep<T>(exact: () => T, plain: () => T): T {
  try {
    return exact();
  } catch (error) {
    if (error instanceof RangeError) return plain();
    throw error;
  }
}

/** Returns the digits of the object's number if a double does not hold them. After a change of the number there are none. */
export function getDigits(holder: object, key: string): string | undefined {
  const known: unknown = Reflect.get(holder, DIGITS);
  const digits: unknown = known instanceof Map ? known.get(key) : undefined;
  return typeof digits === 'string' && Number(digits) === Reflect.get(holder, key) ? digits : undefined;
}

/** Returns the value as JSON, with the digits that `parseExactJson` has read. */
export function formatExactJson(value: unknown, indentation?: number): string {
  return unlessTooDeep(
    () => writeMarkedNumbers(JSON.stringify(value, markDigits, indentation)),
    // With a second argument, V8 recurses.
    () => (indentation ? JSON.stringify(value, null, indentation) : JSON.stringify(value)),
  );
}

function markDigits(this: Holder, key: string, item: unknown): unknown {
  const digits = typeof item === 'number' && this[DIGITS] ? getDigits(this, key) : undefined;
  return digits === undefined ? item : MARK + digits;
}
