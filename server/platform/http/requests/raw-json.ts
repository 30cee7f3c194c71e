/**
 * Scans JSON as bytes, without parsing it. The server stores inputs byte for byte. Parsing and formatting them would turn
 * 1.0 into 1 and round large integers, so that the app would get another input than the caller sent.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

/** The limits of a body, and the name of a field in which the number of values has none. */
interface JsonLimits {
  depthMax: number;
  valuesMax: number;
  rawField: string | undefined;
}

/** The limit that JSON exceeds, and the bytes of the values of the raw field. */
interface MeasuredJson {
  excess: 'depth' | 'values' | null;
  /** Lists, objects and fields of objects in the raw field. */
  rawValues: number;
  rawRanges: [start: number, end: number][];
}

/** Counts the values of JSON. Stops at the first limit that it exceeds. The result is meaningless for invalid JSON. */
export function measureJson(json: Buffer, { depthMax, valuesMax, rawField }: JsonLimits): MeasuredJson {
  const measured: MeasuredJson = { excess: null, rawValues: 0, rawRanges: [] };
  // Each value takes a byte, and each level two, so most bodies are too short to need the scan.
  if (json.length <= Math.min(valuesMax, 2 * depthMax)) return measured;
  const rawKey = rawField === undefined ? null : Buffer.from(JSON.stringify(rawField));
  let depth = 0;
  let values = 0;
  let isRawKey = false;
  let rawStart = -1;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) {
      const end = findStringEnd(json, at);
      if (depth === 1 && rawStart === -1) isRawKey = rawKey?.equals(json.subarray(at, end + 1)) ?? false;
      at = end;
      continue;
    }
    if (depth === 1 && rawStart !== -1 && (byte === COMMA || closesContainer(byte))) {
      measured.rawRanges.push([rawStart, at]);
      rawStart = -1;
    }
    const opens = opensContainer(byte);
    if (opens || byte === COLON) {
      if (rawStart === -1) values += 1;
      else measured.rawValues += 1;
      if (values > valuesMax) return { ...measured, excess: 'values' };
    }
    if (opens) {
      depth += 1;
      if (depth > depthMax) return { ...measured, excess: 'depth' };
    } else if (closesContainer(byte)) depth -= 1;
    else if (byte === COLON && depth === 1 && isRawKey && rawStart === -1) rawStart = at + 1;
  }
  return measured;
}

/** Returns the JSON with an empty list or object in place of each range that has one. */
export function replaceContainers(json: Buffer, ranges: readonly [start: number, end: number][]): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const [start, end] of ranges) {
    const first = trim(json.subarray(start, end))[0];
    if (!opensContainer(first)) continue;
    pieces.push(json.subarray(from, start), Buffer.from(first === 0x5b ? '[]' : '{}'));
    from = end;
  }
  return Buffer.concat([...pieces, json.subarray(from)]);
}

/**
 * Returns the bytes of a top-level field, without surrounding white space; undefined for a missing field. `json` must be a
 * valid JSON object in UTF-8. The last of several fields with the same name counts, as in JSON.parse.
 */
export function extractRawField(json: Buffer, name: string): Buffer | undefined {
  let found: Buffer | undefined;
  let depth = 0;
  let key: unknown;
  let valueStart = -1;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) {
      const end = findStringEnd(json, at);
      if (depth === 1 && valueStart === -1) key = JSON.parse(json.toString('utf8', at, end + 1));
      at = end;
    } else if (opensContainer(byte)) {
      depth += 1;
    } else if (depth === 1 && byte === COLON && valueStart === -1) {
      valueStart = at + 1;
    } else if ((depth === 1 && byte === COMMA) || closesContainer(byte)) {
      if (depth === 1 && valueStart !== -1) {
        if (key === name) found = trim(json.subarray(valueStart, at));
        valueStart = -1;
      }
      if (byte !== COMMA) depth -= 1;
    }
  }
  return found;
}

/** Returns true for `{` and `[`. */
const opensContainer = (byte: number | undefined): boolean => byte === 0x7b || byte === 0x5b;

/** Returns true for `}` and `]`. */
const closesContainer = (byte: number | undefined): boolean => byte === 0x7d || byte === 0x5d;

/** Returns the index of the closing quote of the string that begins at `start`; the length of `json` when it has none. */
function findStringEnd(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    if (json[at] === BACKSLASH) at += 1;
    else if (json[at] === QUOTE) return at;
  }
  return json.length;
}

const isWhiteSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

function trim(value: Buffer): Buffer {
  let start = 0;
  let end = value.length;
  while (start < end && isWhiteSpace(value[start])) start += 1;
  while (end > start && isWhiteSpace(value[end - 1])) end -= 1;
  return value.subarray(start, end);
}
