/** Schemas of the contract in the dialect of MCP, which is JSON Schema; those of the contract are of OpenAPI 3.0. */
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';

/** A JSON schema, as far as this program reads it. */
export interface JsonSchema {
  type?: 'object' | unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: unknown;
  [keyword: string]: unknown;
}

/**
 * Returns the schema with null as a type in place of `nullable`, and without the ids of the document. A client that compiles
 * the schemas of several tools would refuse two with one id.
 */
export function toJsonSchema(schema: unknown): JsonSchema {
  // The copy has no symbols of the library that made the schema.
  const copy: unknown = JSON.parse(JSON.stringify(schema));
  return convert(isRecord(copy) ? copy : {});
}

function convert(value: JsonSchema): JsonSchema {
  const { $id: _, nullable, 'x-characters-unless-id': __, ...rest } = value;
  const converted: JsonSchema = Object.fromEntries(
    Object.entries(rest).map(([name, part]) => [name, convertPart(name, part)]),
  );
  if (nullable !== true) return converted;
  return typeof converted.type === 'string'
    ? { ...converted, type: [converted.type, 'null'] }
    : { anyOf: [converted, { type: 'null' }] };
}

function convertPart(name: string, part: unknown): unknown {
  if (name === 'properties' && isRecord(part))
    return Object.fromEntries(Object.entries(part).map(([field, schema]) => [field, convertAny(schema)]));
  if (['items', 'additionalProperties', 'not'].includes(name)) return convertAny(part);
  if (['anyOf', 'oneOf', 'allOf'].includes(name) && Array.isArray(part)) return part.map(convertAny);
  return part;
}

function convertAny(part: unknown): unknown {
  return isRecord(part) ? convert(part) : part;
}
