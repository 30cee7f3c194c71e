/** Turns what the validator found into a sentence that names the field and its value and says what would be right. */

import { ID_CHARS_MAX } from '@switchyard/contract/limits.ts';
import { EMAIL_PATTERN, NAME_LENGTH_KEYWORD } from '@switchyard/contract/schemas/field-schemas.ts';
import { ID_PATTERN } from '@switchyard/contract/schemas/ids.ts';
import type { ErrorObject } from 'ajv';
import { closest } from 'fastest-levenshtein';
import { quoteValue, truncate } from '../errors/problem.ts';
import { suggestId } from './resource-names.ts';

type Part = 'body' | 'query' | 'path';

/** `errors` as Ajv gives them, with `verbose`. */
export function formatValidationError(errors: readonly ErrorObject[], part: Part): string {
  const error = errors.find((one) => one.keyword === 'anyOf') ?? errors[0];
  if (!error) return `The ${part} of the request is not what this operation takes.`;
  const field = fieldName(error.instancePath, part);
  const schema = (error.parentSchema ?? {}) as Record<string, unknown>;
  const value = schema.format === 'password' ? 'not shown here' : quoteValue(error.data);
  switch (error.keyword) {
    case 'required': {
      const misspelt = unknownOf(error.data, schema);
      if (misspelt !== undefined)
        return unknownField(field, misspelt, Object.keys(schema.properties as object), part);
      return `${join(field, String(error.params.missingProperty), part)} is missing; it is required.`;
    }
    case 'additionalProperties':
      return unknownField(
        field,
        String(error.params.additionalProperty),
        Object.keys((schema.properties ?? {}) as object),
        part,
      );
    case 'type':
    case 'nullable':
      return `${field} is ${value}; it must be ${typeWords(schema)}.`;
    case 'enum':
      return `${field} is ${value}; it must be one of ${(schema.enum as unknown[]).filter((one) => one !== null && one !== '').join(', ')}.`;
    case 'minLength':
    case 'maxLength': {
      const unlessId = schema[NAME_LENGTH_KEYWORD];
      const wanted = unlessId
        ? `${unlessId} characters, or be the id`
        : `${range(schema.minLength, schema.maxLength)} characters`;
      return `${field} is ${value}, ${charactersOf(String(error.data))} characters long; it must have ${wanted}.`;
    }
    case 'minimum':
    case 'maximum':
      return `${field} is ${value}; it must be ${range(schema.minimum, schema.maximum)}.`;
    case 'minItems':
    case 'maxItems':
      return `${field} has ${(error.data as unknown[]).length} items; it must have ${range(schema.minItems, schema.maxItems)}.`;
    case 'pattern':
      if (schema.pattern === EMAIL_PATTERN)
        return `${field} is ${value}; it must be an e-mail address, such as ada@example.com.`;
      return schema.pattern === ID_PATTERN
        ? `${field} is ${value}; it must be 1 to ${ID_CHARS_MAX} lowercase letters, digits and hyphens${suchAs(error.data)}.`
        : `${field} is ${value}; it must not contain a NUL character.`;
    case 'format':
      return `${field} is ${value}; it must be a time as RFC 3339 writes it, such as 2026-11-20T08:00:00Z.`;
    case 'anyOf':
      return `${field} is ${value}; it must be ${anyOfWords(schema)}.`;
    default:
      return `${field} is ${value}; it ${error.message ?? 'is not allowed here'}.`;
  }
}

function suchAs(given: unknown): string {
  const id = typeof given === 'string' ? suggestId(given) : '';
  return id === '' ? '' : `, such as ${quoteValue(id)}`;
}

function fieldName(instancePath: string, part: Part): string {
  const name = instancePath
    .split('/')
    .slice(1)
    .map((one) => one.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
  return name === '' ? `The ${part}` : truncate(name);
}

function join(field: string, name: string, part: Part): string {
  return field === `The ${part}` ? truncate(name) : `${field}.${truncate(name)}`;
}

/** Counted as limits count them: a character outside the basic plane is one. */
function charactersOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** A field that is not known where only known ones are allowed: a required one that is missing may stand there misspelt. */
function unknownOf(data: unknown, schema: Record<string, unknown>): string | undefined {
  if (schema.additionalProperties !== false) return undefined;
  const known = new Set(Object.keys(schema.properties as object));
  return Object.keys(data as object).find((name) => !known.has(name));
}

function unknownField(field: string, name: string, known: string[], part: Part): string {
  const full = join(field, name, part);
  const near = known.length > 0 ? closest(name.slice(0, NAME_CHARS_COMPARED), known) : '';
  return near === ''
    ? `${full} is not a field of this request.`
    : `${full} is not a field of this request; did you mean "${near}"? The fields are ${known.join(', ')}.`;
}

/** The sentence for a query parameter that the operation does not have. */
export function formatUnknownParameter(name: string, known: readonly string[]): string {
  const unknown = `${truncate(name)} is not a query parameter of this operation`;
  if (known.length === 0) return `${unknown}, which has none.`;
  const near = closest(name.slice(0, NAME_CHARS_COMPARED), known);
  return `${unknown}; did you mean "${near}"? The parameters are ${known.join(', ')}.`;
}

/** No field has a longer name. */
const NAME_CHARS_COMPARED = 100;

const TYPE_WORDS: Record<string, string> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a JSON object',
  array: 'a JSON array',
  null: 'null',
};

function typeWords(schema: Record<string, unknown>): string {
  return TYPE_WORDS[String(schema.type)] ?? 'of another type';
}

function anyOfWords(schema: Record<string, unknown>): string {
  const choices = (schema.anyOf as Record<string, unknown>[]).map(typeWords);
  return choices.length > 1
    ? `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
    : (choices[0] ?? 'something else');
}

function range(min: unknown, max: unknown): string {
  if (min !== undefined && max !== undefined) return `${String(min)} to ${String(max)}`;
  return min !== undefined ? `at least ${String(min)}` : `at most ${String(max)}`;
}
