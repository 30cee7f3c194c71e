/**
 * Writes schemas into the documents. A schema with an `$id` becomes a component and a `$ref`. A keyword outside OpenAPI
 * 3.0.3 stops the generation: without it, the document would promise less than the server enforces.
 */
import { isDeepStrictEqual } from 'node:util';
import Type from 'typebox';
import { NAME_LENGTH_KEYWORD } from '../schemas/field-schemas.ts';
import { isRecord } from '../schemas/is-record.ts';
import { createJsonParser } from '../schemas/json-parser.ts';

/** Keywords of a 3.0.3 schema that are copied unchanged, in the order of the document. */
const PLAIN_KEYWORDS = [
  'type',
  'format',
  'nullable',
  'enum',
  'title',
  'description',
  'default',
  'deprecated',
  'readOnly',
  'writeOnly',
  'example',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'required',
] as const;
const LIST_KEYWORDS = ['allOf', 'anyOf', 'oneOf'] as const;
const NESTED_KEYWORDS = ['items', 'additionalProperties', 'not'] as const;
const KNOWN_KEYWORDS = new Set<string>([
  '$id',
  // The description contains the same information.
  NAME_LENGTH_KEYWORD,
  'properties',
  ...PLAIN_KEYWORDS,
  ...LIST_KEYWORDS,
  ...NESTED_KEYWORDS,
]);

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** Collects the named schemas of a document. */
export class ComponentSchemas {
  readonly #sources = new Map<string, unknown>();
  readonly #schemas = new Map<string, JsonObject>();

  /**
   * Returns the schema, or a reference if it has a name. `where` is for error messages. Throws for schemas that OpenAPI
   * 3.0.3 cannot express.
   */
  writeSchema(schema: unknown, where: string): JsonObject {
    const source = requireObject(schema, where);
    const id = source.$id;
    if (id === undefined) return this.#write(source, where);
    if (typeof id !== 'string' || !/^[A-Za-z0-9]+$/.test(id)) {
      throw new Error(
        `The $id at ${where} is ${JSON.stringify(id)}; it must be one word of letters and digits.`,
      );
    }
    const known = this.#sources.get(id);
    if (known === undefined) {
      this.#sources.set(id, source);
      this.#schemas.set(id, this.#write(source, id));
    } else if (!isDeepStrictEqual(known, source)) {
      throw new Error(
        `Two different schemas have the $id ${id}, one of them at ${where}; rename one of them.`,
      );
    }
    return { $ref: `#/components/schemas/${id}` };
  }

  /** Returns the collected schemas by name, in alphabetical order. */
  listSorted(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #write(source: Record<string, unknown>, where: string): JsonObject {
    refuseUnknownKeywords(source, where);
    const written: JsonObject = {};
    for (const keyword of PLAIN_KEYWORDS) {
      if (source[keyword] !== undefined) written[keyword] = toJson(source[keyword]);
    }
    if (source.properties !== undefined) {
      const entries = Object.entries(requireObject(source.properties, `${where}.properties`));
      written.properties = Object.fromEntries(
        entries.map(([key, value]) => [key, this.writeSchema(value, `${where}.${key}`)]),
      );
    }
    for (const keyword of LIST_KEYWORDS) {
      const choices = source[keyword];
      if (Array.isArray(choices)) {
        written[keyword] = choices.map((choice, index) =>
          this.writeSchema(choice, `${where}.${keyword}[${index}]`),
        );
      }
    }
    for (const keyword of NESTED_KEYWORDS) {
      const nested = source[keyword];
      if (typeof nested === 'boolean') written[keyword] = nested;
      else if (nested !== undefined) written[keyword] = this.writeSchema(nested, `${where}.${keyword}`);
    }
    return written;
  }
}

function refuseUnknownKeywords(source: Record<string, unknown>, where: string): void {
  for (const keyword of Object.keys(source)) {
    if (!KNOWN_KEYWORDS.has(keyword)) {
      throw new Error(`The schema at ${where} uses ${keyword}, which OpenAPI 3.0.3 does not have.`);
    }
  }
  if (source.type !== undefined && typeof source.type !== 'string') {
    throw new Error(
      `The schema at ${where} has a list of types; OpenAPI 3.0.3 allows one, and nullable: true.`,
    );
  }
  for (const keyword of ['exclusiveMinimum', 'exclusiveMaximum']) {
    if (source[keyword] !== undefined && typeof source[keyword] !== 'boolean') {
      throw new Error(
        `${keyword} at ${where} is not a boolean; OpenAPI 3.0.3 combines it with minimum or maximum.`,
      );
    }
  }
  if (source.nullable === true && source.type === undefined) {
    throw new Error(`The schema at ${where} is nullable without a type; OpenAPI 3.0.3 ignores that.`);
  }
  if (Array.isArray(source.items)) {
    throw new Error(`The schema at ${where} is a tuple; OpenAPI 3.0.3 has one schema for all items.`);
  }
}

function requireObject(value: unknown, where: string): Record<string, unknown> {
  if (!isRecord(value)) throw new Error(`There is no schema at ${where}.`);
  return value;
}

/** Every value of JSON is a Json. */
const parseJson = createJsonParser(Type.Unsafe<Json>({}));

/** Returns a copy as JSON values. */
export function toJson(value: unknown): Json {
  return parseJson(JSON.stringify(value), 'The value');
}
