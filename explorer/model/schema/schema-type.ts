import { isJsonObject, type JsonObject } from '../document/json.ts';
import type { ResolvedDocument } from '../document/resolved-document.ts';

/** Arrays of arrays and choices of choices nested deeper than this are "any", because a recursive type has no end. */
const MAX_DEPTH_LEVELS = 5;

function getJsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function listDeclaredTypes(document: ResolvedDocument, part: JsonObject, depth: number): string[] {
  const { type, format } = part;
  const types = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string');
  return types.map((name) => {
    if (name === 'array') return formatArrayType(document, part, depth);
    if (name === 'null' || types.length > 1 || typeof format !== 'string') return name;
    return `${name} (${format})`;
  });
}

function formatArrayType(document: ResolvedDocument, part: JsonObject, depth: number): string {
  const items = listTypes(document, part.items, depth + 1);
  return items.includes('any') ? 'array' : `array of ${items.join(' or ')}`;
}

/** Lists the types of a schema that declares none, from its other members. */
function listImpliedTypes(document: ResolvedDocument, part: JsonObject, depth: number): string[] {
  if (isJsonObject(part.properties) || isJsonObject(part.additionalProperties)) return ['object'];
  if ('items' in part) return [formatArrayType(document, part, depth)];
  if (Array.isArray(part.enum) && part.enum.length > 0) return part.enum.map(getJsonType);
  if ('const' in part) return [getJsonType(part.const)];
  return [];
}

function listTypes(document: ResolvedDocument, schema: unknown, depth: number): string[] {
  if (depth > MAX_DEPTH_LEVELS) return ['any'];
  const { parts, variantLists } = document.merge(schema);
  // In this order, and each only when those before it find nothing: types of variants take long to find.
  const sources = [
    () => parts.flatMap((part) => listDeclaredTypes(document, part, depth)),
    () =>
      variantLists
        .flatMap(({ schemas }) => schemas)
        .flatMap((variant) => listTypes(document, variant, depth + 1)),
    () => parts.flatMap((part) => listImpliedTypes(document, part, depth)),
  ];
  for (const listFrom of sources) {
    const types = [...new Set(listFrom())];
    if (types.length > 0) return types.length > 1 && types.includes('any') ? ['any'] : types;
  }
  return ['any'];
}

/** Formats the type of a schema in words: `string (date-time)`, `array of object`, `string or number`. */
export function formatSchemaType(document: ResolvedDocument, schema: unknown): string {
  return listTypes(document, schema, 0).join(' or ');
}
