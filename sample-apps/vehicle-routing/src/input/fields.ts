/**
 * Small readers that take a value out of the input and say, in one sentence, what is wrong with it. Every reader gets
 * the path of the field (`stops[3].windows[0].from`), so that a person can find it in the file.
 */

/** The input or an option is wrong. The message is one sentence with the field, its value and what would be right. */
export class InputError extends Error {}

export type JsonObject = Record<string, unknown>;

/** A value as it stands in the input, shortened so that the sentence stays readable. */
export function quoteValue(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

export function rejectValue(path: string, value: unknown, right: string): never {
  throw new InputError(`${path} is ${quoteValue(value)}; it must be ${right}.`);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads an object and refuses any field that is not `known`, naming the nearest one that is. */
export function readObject(value: unknown, path: string, known: readonly string[]): JsonObject {
  if (!isObject(value)) rejectValue(path, value, 'an object');
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) {
      const near = findNearestName(name, known);
      throw new InputError(`${path}.${name} is not a field of this object; did you mean "${near}"?`);
    }
  }
  return value;
}

export function readArray(value: unknown, path: string): unknown[] {
  if (!Array.isArray(value)) rejectValue(path, value, 'an array');
  return value;
}

export function readString(value: unknown, path: string): string {
  if (typeof value !== 'string' || value === '') rejectValue(path, value, 'a non-empty string');
  return value;
}

export function readStrings(value: unknown, path: string): string[] {
  return readArray(value, path).map((entry, i) => readString(entry, `${path}[${i}]`));
}

/** Reads a finite number of at least `min`. */
export function readNumber(value: unknown, path: string, min: number): number {
  const right = min === -Infinity ? 'a number' : `a number of at least ${min}`;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < min) rejectValue(path, value, right);
  return value;
}

export function readInteger(value: unknown, path: string, min: number, max: number): number {
  const right =
    max === Infinity ? `a whole number of at least ${min}` : `a whole number from ${min} to ${max}`;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    rejectValue(path, value, right);
  }
  return value;
}

/** The known name that is longer or shorter by an ending, else the one with the smallest edit distance to `name`. */
export function findNearestName(name: string, known: readonly string[]): string {
  let best = '';
  let least = Infinity;
  for (const candidate of known) {
    const ending = candidate.startsWith(name) || name.startsWith(candidate);
    const distance = ending ? 0 : editDistance(name, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = above[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(swap, above[j] + 1, row[j - 1] + 1));
    }
  }
  return row[b.length];
}
