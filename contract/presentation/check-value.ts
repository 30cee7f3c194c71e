/** Checks values of files against a schema, in Node and in browsers, where no code may be generated. */
import { closest } from 'fastest-levenshtein';
import type { TSchema } from 'typebox';
import { Check, Errors } from 'typebox/value';
import { isRecord } from '../schemas/is-record.ts';
import { truncate } from './quote-value.ts';
import { formatValidationError } from './validation-messages.ts';

const WARNINGS_MAX = 10;
/** No field has a longer name, and the time of the comparison grows with the length. */
const NAME_CHARS_COMPARED = 100;

/** Returns the sentence about the most helpful error; undefined for a valid value. A field of the schema must not be null. */
export function findMistake(schema: TSchema, value: unknown): string | undefined {
  if (Check(schema, value)) return undefined;
  const errors = Errors(schema, value).map((error) => ({
    ...error,
    params: { ...error.params, missingProperty: readFirst(error.params) },
    data: follow(value, error.instancePath),
    parentSchema: toRecord(follow(schema, error.schemaPath.replace(/^#/, ''))),
  }));
  return formatValidationError(errors, 'file');
}

function readFirst(params: object): unknown {
  return 'requiredProperties' in params && Array.isArray(params.requiredProperties)
    ? params.requiredProperties[0]
    : undefined;
}

/** Returns the value at a JSON pointer (RFC 6901). */
function follow(value: unknown, pointer: string): unknown {
  let found = value;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const fields: unknown = found;
    found = typeof fields === 'object' && fields !== null ? Reflect.get(fields, name) : undefined;
  }
  return found;
}

const toRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

/** A field that the schema does not have, and the most similar one that it has. */
interface UnknownField {
  field: string;
  nearest: string;
}

/** Returns the first fields of a valid value that its schema does not have. */
export function listUnknownFields(schema: TSchema, value: unknown): UnknownField[] {
  const found: UnknownField[] = [];
  const all = listPaths(schema);
  // A known field in the wrong place is more likely than a misspelt one.
  const findNearest = (name: string, path: string, known: string[]): string =>
    all.find((one) => one.endsWith(`.${name}`)) ??
    join(path, closest(name.slice(0, NAME_CHARS_COMPARED), known));
  const visit = (part: Record<string, unknown>, inner: unknown, path: string): void => {
    if (Array.isArray(inner)) {
      for (const [index, item] of inner.entries())
        visit(toRecord(part.items), item, join(path, String(index)));
      return visitChoices(part, inner, path);
    }
    if (!isRecord(inner)) return;
    visitChoices(part, inner, path);
    if (!isRecord(part.properties)) return;
    const known = Object.keys(part.properties);
    for (const [name, field] of Object.entries(inner)) {
      if (found.length === WARNINGS_MAX) return;
      if (known.includes(name)) visit(toRecord(part.properties[name]), field, join(path, name));
      else
        found.push({
          field: truncate(join(path, name)),
          nearest: findNearest(name, path, known),
        });
    }
  };
  const visitChoices = (part: Record<string, unknown>, inner: unknown, path: string): void => {
    const type = Array.isArray(inner) ? 'array' : 'object';
    const choices: unknown[] = Array.isArray(part.anyOf) ? part.anyOf : [];
    const chosen = choices.map(toRecord).find((choice) => choice.type === type);
    if (chosen) visit(chosen, inner, path);
  };
  visit(toRecord(schema), value, '');
  return found;
}

/** Returns the paths of all fields of objects, without those of items of lists. */
function listPaths(schema: TSchema | Record<string, unknown>, path = ''): string[] {
  const { properties } = toRecord(schema);
  return Object.entries(toRecord(properties)).flatMap(([name, field]) => [
    join(path, name),
    ...listPaths(toRecord(field), join(path, name)),
  ]);
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
