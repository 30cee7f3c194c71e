import { collectVariants, flattenAllOf } from '../document/flatten-all-of.ts';
import type { JsonObject } from '../document/json.ts';
import { isJsonObject } from '../document/json.ts';

/** Beyond this, arrays of arrays and choices of choices are only "any": a circle has no end. */
const deepest = 5;

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function named(document: unknown, part: JsonObject, depth: number): string[] {
  const { type, format } = part;
  const types = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string');
  return types.map((name) => {
    if (name === 'array') return arrayOf(document, part, depth);
    if (name === 'null' || types.length > 1 || typeof format !== 'string') return name;
    return `${name} (${format})`;
  });
}

function arrayOf(document: unknown, part: JsonObject, depth: number): string {
  const items = typesOf(document, part.items, depth + 1);
  return items.includes('any') ? 'array' : `array of ${items.join(' or ')}`;
}

/** The types of one schema that names none, from what else it says. */
function implied(document: unknown, part: JsonObject, depth: number): string[] {
  if (isJsonObject(part.properties) || isJsonObject(part.additionalProperties)) return ['object'];
  if ('items' in part) return [arrayOf(document, part, depth)];
  if (Array.isArray(part.enum) && part.enum.length > 0) return part.enum.map(jsonType);
  if ('const' in part) return [jsonType(part.const)];
  return [];
}

function typesOf(document: unknown, schema: unknown, depth: number): string[] {
  if (depth > deepest) return ['any'];
  const { parts } = flattenAllOf(document, schema);
  const own = parts.flatMap((part) => named(document, part, depth));
  const variants = collectVariants(parts).flatMap((variant) => typesOf(document, variant, depth + 1));
  const guessed = parts.flatMap((part) => implied(document, part, depth));
  const types = [own, variants, guessed].find((found) => found.length > 0) ?? ['any'];
  const distinct = [...new Set(types)];
  return distinct.length > 1 && distinct.includes('any') ? ['any'] : distinct;
}

/** The type of a schema in words: `string (date-time)`, `array of object`, `string or number`. */
export function formatSchemaType(document: unknown, schema: unknown): string {
  return typesOf(document, schema, 0).join(' or ');
}
