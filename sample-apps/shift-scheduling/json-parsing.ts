/** Small readers that turn unknown JSON into typed values, or say which field is wrong and what would be right. */

/** The input or an option is wrong; the message is one sentence for the user. */
export class InputError extends Error {}

export type JsonObject = Record<string, unknown>;

function refuse(path: string, value: unknown, right: string): never {
  const text = value === undefined ? 'missing' : JSON.stringify(value);
  throw new InputError(
    `${path} is ${text.length > 80 ? `${text.slice(0, 77)}...` : text}: it must be ${right}`,
  );
}

/** An object that has no other fields than the known ones, so that a mistyped name does not go unnoticed. */
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

/** A list; a missing one is empty when `optional`. */
export function parseList(value: unknown, path: string, optional = false): unknown[] {
  if (optional && value === undefined) return [];
  if (!Array.isArray(value)) refuse(path, value, 'a list');
  return value;
}

export function parseText(value: unknown, path: string): string {
  if (typeof value !== 'string' || value === '') refuse(path, value, 'a non-empty string');
  return value;
}

export interface NumberRange {
  minimum: number;
  maximum?: number;
  whole?: boolean;
  /** Used when the field is missing; without it a missing field is refused. */
  otherwise?: number;
}

export function parseNumber(value: unknown, path: string, range: NumberRange): number {
  if (value === undefined && range.otherwise !== undefined) return range.otherwise;
  const maximum = range.maximum ?? 1e9;
  const fits = typeof value === 'number' && value >= range.minimum && value <= maximum;
  if (!fits || (range.whole && !Number.isInteger(value))) {
    refuse(path, value, `${range.whole ? 'a whole number' : 'a number'} from ${range.minimum} to ${maximum}`);
  }
  return value;
}

/** Throws when two things of a list have one id. */
export function requireUniqueIds(ids: readonly string[], path: string): void {
  const seen = new Map<string, number>();
  ids.forEach((id, index) => {
    const first = seen.get(id);
    if (first !== undefined) {
      const shown = JSON.stringify(id);
      throw new InputError(`${path}[${index}] is ${shown}, like ${path}[${first}]: it must be unique`);
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
