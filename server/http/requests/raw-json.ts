/**
 * Reads JSON as the bytes that were sent, without parsing it: how deep it is nested, and the text of one field. Inputs are
 * kept as such texts: parsing and writing them again would turn 1.0 into 1 and round large whole numbers, and the app would
 * see another input than the caller gave.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

/** Whether lists and objects lie in each other more than `most` deep; says nothing of use about what is no JSON. */
export function exceedsDepth(json: Buffer, most: number): boolean {
  if (json.length <= 2 * most) return false;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number;
    if (byte === QUOTE) at = endOfString(json, at);
    else if (opens(byte)) {
      depth += 1;
      if (depth > most) return true;
    } else if (closes(byte)) depth -= 1;
  }
  return false;
}

/**
 * The text of a top-level field. `json` must be a valid JSON object in UTF-8. Of a field given twice the last counts, as in
 * JSON.parse.
 */
export function extractRawField(json: Buffer, name: string): Buffer | undefined {
  let found: Buffer | undefined;
  let depth = 0;
  let key: string | null = null;
  let valueStart = -1;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number;
    if (byte === QUOTE) {
      const end = endOfString(json, at);
      if (depth === 1 && valueStart === -1) key = JSON.parse(json.toString('utf8', at, end + 1)) as string;
      at = end;
    } else if (opens(byte)) {
      depth += 1;
    } else if (depth === 1 && byte === COLON && valueStart === -1) {
      valueStart = at + 1;
    } else if ((depth === 1 && byte === COMMA) || closes(byte)) {
      if (depth === 1 && valueStart !== -1) {
        if (key === name) found = trim(json.subarray(valueStart, at));
        valueStart = -1;
      }
      if (byte !== COMMA) depth -= 1;
    }
  }
  return found;
}

/** Of `{` and `[`. */
const opens = (byte: number): boolean => byte === 0x7b || byte === 0x5b;

/** Of `}` and `]`. */
const closes = (byte: number): boolean => byte === 0x7d || byte === 0x5d;

/** Where the text that begins at `start` has its closing quote, or the end when it has none. */
function endOfString(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    if (json[at] === BACKSLASH) at += 1;
    else if (json[at] === QUOTE) return at;
  }
  return json.length;
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

function trim(value: Buffer): Buffer {
  let start = 0;
  let end = value.length;
  while (start < end && isSpace(value[start])) start += 1;
  while (end > start && isSpace(value[end - 1])) end -= 1;
  return value.subarray(start, end);
}
