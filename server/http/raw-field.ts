/**
 * Cuts the text of one top-level field out of a JSON object, as it was sent. Inputs are kept this way: parsing and
 * writing them again would turn 1.0 into 1 and round large whole numbers, and the app would see another input than the
 * caller gave.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = new Set([0x7b, 0x5b]);
const CLOSE = new Set([0x7d, 0x5d]);
const COMMA = 0x2c;
const COLON = 0x3a;

/** `json` must be a valid JSON object in UTF-8. Of a field given twice the last counts, as in JSON.parse. */
export function rawField(json: Buffer, name: string): Buffer | undefined {
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
    } else if (OPEN.has(byte)) {
      depth += 1;
    } else if (depth === 1 && byte === COLON && valueStart === -1) {
      valueStart = at + 1;
    } else if ((depth === 1 && byte === COMMA) || CLOSE.has(byte)) {
      if (depth === 1 && valueStart !== -1) {
        if (key === name) found = trim(json.subarray(valueStart, at));
        valueStart = -1;
      }
      if (byte !== COMMA) depth -= 1;
    }
  }
  return found;
}

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
