/** Parsers that turn unknown JSON into typed values, or throw an error with the field, its value and the remedy. */

/** The input or an option is invalid; the message is one sentence for the user. */
export class InputError extends Error {}

export type JsonObject = Record<string, unknown>;

function refuse(path: string, value: unknown, right: string): never {
  const text = value === undefined ? 'missing' : JSON.stringify(value);
  throw new InputError(
    `${path} is ${text.length > 80 ? `${text.slice(0, 77)}...` : text}: it must be ${right}`,
  );
}

/** Parses an object. Rejects unknown fields, so that a mistyped name is noticed. */
export function parseObject(value: unknown, path: string, known: readonly string[]): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(path, value, 'an object');
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) {
      const field = JSON.stringify(name);
      throw new InputError(`${path} has the unknown field ${field}: it may have ${known.join(', ')}`);
    }
  }
  return value as JsonObject;
}

/** Parses a list; with `optional`, a missing one is empty. */
export function parseList(value: unknown, path: string, optional = false): unknown[] {
  if (optional && value === undefined) return [];
  if (!Array.isArray(value)) refuse(path, value, 'a list');
  return value;
}

/** Parses a non-empty string. */
export function parseText(value: unknown, path: string): string {
  if (typeof value !== 'string' || value === '') refuse(path, value, 'a non-empty string');
  return value;
}

/** Allowed values of a number; `maximum` is 1e9 when absent. */
export interface NumberRange {
  minimum: number;
  maximum?: number;
  whole?: boolean;
  /** Value of a missing field; without it a missing field is an error. */
  otherwise?: number;
}

/** Parses a number within a range. */
export function parseNumber(value: unknown, path: string, range: NumberRange): number {
  if (value === undefined && range.otherwise !== undefined) return range.otherwise;
  const maximum = range.maximum ?? 1e9;
  const fits = typeof value === 'number' && value >= range.minimum && value <= maximum;
  if (!fits || (range.whole && !Number.isInteger(value))) {
    refuse(path, value, `${range.whole ? 'a whole number' : 'a number'} from ${range.minimum} to ${maximum}`);
  }
  return value;
}

/** Throws when two entries of a list have the same id. */
export function requireUniqueIds(ids: readonly string[], path: string): void {
  const seen = new Map<string, number>();
  ids.forEach((id, index) => {
    const first = seen.get(id);
    if (first !== undefined) {
      const quoted = JSON.stringify(id);
      throw new InputError(`${path}[${index}] is ${quoted}, like ${path}[${first}]: it must be unique`);
    }
    seen.set(id, index);
  });
}

/** Parses the text of standard input. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') throw new InputError('standard input is empty: it must hold one JSON object');
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InputError(`standard input is not JSON (${reason}): it must hold one JSON object`);
  }
}
