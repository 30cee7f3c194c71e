/** Formats the errors of the validator as a sentence that names the field, its value and the values it allows. */
import type { ErrorObject } from 'ajv';
import { closest } from 'fastest-levenshtein';
import { ID_CHARS_MAX } from '../limits.ts';
import { EMAIL_PATTERN, NAME_LENGTH_KEYWORD } from '../schemas/field-schemas.ts';
import { ID_PATTERN, NAME_PATTERN, NO_NUL_PATTERN } from '../schemas/ids.ts';
import { quoteValue, truncate } from './quote-value.ts';
import { suggestId } from './suggest-id.ts';

/** The validated thing: a part of a request, or a file. */
type Part = 'body' | 'query' | 'path' | 'file';

/** The schema of a field. Ajv types all keywords as `any`. */
interface FieldSchema {
  enum?: readonly unknown[];
  properties?: object;
  [keyword: string]: unknown;
}

/** Formats the most helpful of the errors; they must come from an Ajv with `verbose`, which adds the value and its schema. */
export function formatValidationError(errors: readonly ErrorObject[], part: Part): string {
  const error = selectError(errors);
  if (!error && part === 'file') return 'The file does not match its schema.';
  if (!error)
    return `The ${part} of the request does not match the schema of this operation; compare it with the API reference.`;
  const field = formatFieldName(error.instancePath, part);
  const schema: FieldSchema = error.parentSchema ?? {};
  const value = schema.format === 'password' ? 'not shown here' : quoteValue(error.data);
  switch (error.keyword) {
    case 'required': {
      const misspelt = findUnknownField(error.data, schema);
      if (misspelt !== undefined) return formatUnknownField(field, misspelt, schema, part);
      return `${joinFieldName(field, String(error.params.missingProperty), part)} is missing; it is required.`;
    }
    case 'additionalProperties':
      return formatUnknownField(field, String(error.params.additionalProperty), schema, part);
    case 'type':
    case 'nullable':
      // JSON.parse reads 1e309 as Infinity.
      if (typeof error.data === 'number' && !Number.isFinite(error.data))
        return `${field} is a number beyond 1.8e308, the largest double; give ${formatType(schema, part)} below it.`;
      return `${field} is ${value}; it must be ${formatType(schema, part)}.`;
    case 'enum':
      return `${field} is ${value}; it must be one of ${formatChoices(schema)}.`;
    case 'minLength':
    case 'maxLength': {
      const nameLength = schema[NAME_LENGTH_KEYWORD];
      const allowed = nameLength
        ? `${nameLength} characters, or be the id`
        : `${formatRange(schema.minLength, schema.maxLength)} characters`;
      return `${field} is ${value}, ${countCharacters(String(error.data))} characters long; it must have ${allowed}.`;
    }
    case 'minimum':
    case 'maximum':
      return `${field} is ${value}; it must be ${formatRange(schema.minimum, schema.maximum)}.`;
    case 'minItems':
    case 'maxItems':
      return `${field} has ${Array.isArray(error.data) ? error.data.length : 0} items; it must have ${formatRange(schema.minItems, schema.maxItems)}.`;
    case 'uniqueItems':
      return `${field} is ${value}; it must have each value once.`;
    case 'pattern':
      if (schema.pattern === EMAIL_PATTERN)
        return `${field} is ${value}; it must be an e-mail address, such as ada@example.com.`;
      if (schema.pattern === ID_PATTERN)
        return `${field} is ${value}; it must be 1 to ${ID_CHARS_MAX} lowercase letters, digits and hyphens${formatSuggestion(error.data)}.`;
      if (schema.pattern === NAME_PATTERN)
        return `${field} is ${value}; it must be one line of visible text, without ${findInvisible(error.data)}.`;
      return schema.pattern === NO_NUL_PATTERN
        ? `${field} is ${value}; it must not contain a NUL character.`
        : `${field} is ${value}; give this: ${schema.description}`;
    case 'format':
      if (schema.format === 'date') return `${field} is ${value}; it must be a day, such as 2026-11-20.`;
      return `${field} is ${value}; it must be a time in RFC 3339 format, such as 2026-11-20T08:00:00Z.`;
    case 'anyOf':
      return `${field} is ${value}; it must be ${formatAlternatives(schema, part)}.`;
    default:
      return `${field} is ${value}; it ${error.message ?? 'is not allowed here'}.`;
  }
}

/**
 * Returns the most helpful error. Ajv reports each failed branch of anyOf before anyOf itself, and only the latter names all
 * choices. A branch of the value's own type has an error of its own, which is more exact.
 */
function selectError(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const union = errors.find(({ keyword }) => keyword === 'anyOf');
  if (!union) return errors[0];
  const branches = errors
    .slice(0, errors.indexOf(union))
    .filter(({ instancePath, keyword, parentSchema, data }) =>
      instancePath === union.instancePath
        ? keyword !== 'type' && parentSchema?.type === (Array.isArray(data) ? 'array' : typeof data)
        : instancePath.startsWith(`${union.instancePath}/`),
    );
  return branches[0] ?? union;
}

const NAME_CHARACTER = new RegExp(NAME_PATTERN);

/** Returns the code point of the first character that no name may have, such as `U+202E`. */
function findInvisible(text: unknown): string {
  const character = [...String(text)].find((one) => !NAME_CHARACTER.test(one)) ?? '';
  const code = character.codePointAt(0) ?? 0;
  if (code === 0) return 'a NUL character';
  return `the character U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

function formatSuggestion(rejected: unknown): string {
  const id = typeof rejected === 'string' ? suggestId(rejected) : '';
  return id === '' ? '' : `, such as ${quoteValue(id)}`;
}

/** Formats a JSON pointer (RFC 6901) with dots: `a.b` for `/a/b`. */
function formatFieldName(instancePath: string, part: Part): string {
  const name = instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
  return name === '' ? `The ${part}` : truncate(name);
}

function joinFieldName(field: string, name: string, part: Part): string {
  return field === `The ${part}` ? truncate(name) : `${field}.${truncate(name)}`;
}

/** Counts code points, as the limits of the contract do: a character outside the Basic Multilingual Plane counts as one. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Returns the first field that the schema does not allow: it may be the missing required field with a spelling mistake. */
function findUnknownField(data: unknown, schema: FieldSchema): string | undefined {
  if (schema.additionalProperties !== false || typeof data !== 'object' || data === null) return undefined;
  const known = new Set(Object.keys(schema.properties ?? {}));
  return Object.keys(data).find((name) => !known.has(name));
}

function formatUnknownField(field: string, name: string, schema: FieldSchema, part: Part): string {
  const full = joinFieldName(field, name, part);
  const known = Object.keys(schema.properties ?? {});
  const nearest = known.length > 0 ? closest(name.slice(0, NAME_CHARS_COMPARED), known) : '';
  const whole = part === 'file' ? 'file' : 'request';
  return nearest === ''
    ? `${full} is not a field of this ${whole}.`
    : `${full} is not a field of this ${whole}; did you mean "${nearest}"? The fields are ${known.join(', ')}.`;
}

/** Formats the message about a query parameter that the operation does not have; suggests the most similar one. */
export function formatUnknownParameter(name: string, known: readonly string[]): string {
  const unknown = `${truncate(name)} is not a query parameter of this operation`;
  if (known.length === 0) return `${unknown}, which has none.`;
  const nearest = closest(name.slice(0, NAME_CHARS_COMPARED), known);
  return `${unknown}; did you mean "${nearest}"? The parameters are ${known.join(', ')}.`;
}

/** No field has a longer name, and the time of the comparison grows with the length. */
const NAME_CHARS_COMPARED = 100;

const TYPE_NAMES: Record<string, string> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a JSON object',
  array: 'a JSON array',
  null: 'null',
};

/** Files are YAML, whose writers do not think of JSON. */
const FILE_TYPE_NAMES: Record<string, string> = { ...TYPE_NAMES, object: 'a map', array: 'a list' };

function formatType(schema: FieldSchema, part: Part): string {
  const names = part === 'file' ? FILE_TYPE_NAMES : TYPE_NAMES;
  return names[String(schema.type)] ?? 'of another type';
}

/** Lists the allowed values; null and the empty text mean an absent value, and are not worth a suggestion. */
function formatChoices(schema: FieldSchema): string {
  return (schema.enum ?? []).filter((choice) => choice !== null && choice !== '').join(', ');
}

function formatAlternatives(schema: FieldSchema, part: Part): string {
  const choices = Array.isArray(schema.anyOf) ? schema.anyOf.map((one) => formatType(one, part)) : [];
  return choices.length > 1
    ? `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
    : (choices[0] ?? 'something else');
}

function formatRange(min: unknown, max: unknown): string {
  if (min !== undefined && max !== undefined) return `${String(min)} to ${String(max)}`;
  return min !== undefined ? `at least ${String(min)}` : `at most ${String(max)}`;
}
