import { getOwnMember, isJsonObject, type JsonObject } from '../document/json.ts';
import type { MergedSchema, ResolvedDocument } from '../document/resolved-document.ts';
import { buildPrimitiveExample } from './primitive-example.ts';

/** The direction a value goes: a request leaves out what is read-only, a response what is write-only. */
export type Direction = 'request' | 'response';

/** One example in the making. It ends in circles, and when `remainingValues` are used up: nobody reads on. */
type Draft = { document: ResolvedDocument; direction: Direction; remainingValues: number };

/** The references that lead to a value, and the number of levels around it. */
type Place = { ancestors: readonly string[]; depth: number };

/** Schemas that one value satisfies, and the values of its discriminators by property. */
type ChosenSchema = {
  schemas: readonly MergedSchema[];
  ancestors: readonly string[];
  tags: readonly (readonly [string, string])[];
};

const MAX_DEPTH_LEVELS = 24;
const MAX_VALUES = 400;

/** The most items written, whatever `minItems` says. */
const MAX_ITEMS = 4;

/**
 * Builds a value of the schema from its examples, defaults and types. Returns undefined where the schema only leads back
 * to itself. openapi-sampler writes the texts, but its own walk over schemas is not used. Nine schemas that refer to each
 * other take it six seconds and give 8 MB. Besides, it throws for a malformed schema and ignores discriminators.
 */
export function buildExampleValue(
  document: ResolvedDocument,
  schema: unknown,
  direction: Direction,
): unknown {
  return buildValue({ document, direction, remainingValues: MAX_VALUES }, schema, {
    ancestors: [],
    depth: 0,
  });
}

function buildValue(draft: Draft, schema: unknown, place: Place): unknown {
  if (place.depth > MAX_DEPTH_LEVELS || draft.remainingValues <= 0) return undefined;
  draft.remainingValues -= 1;
  if (isRecursive(draft, schema, place.ancestors)) return buildRecursionEnd(draft, schema, place);
  const chosen = chooseVariants(draft, schema, place);
  const parts = chosen.schemas.flatMap((one) => one.parts);
  const inside = { ancestors: chosen.ancestors, depth: place.depth + 1 };
  const own = findDocumentedValue(parts.slice(0, 1));
  if (own) return own.value;
  if (parts.some(hasFields)) return buildObject(draft, chosen, inside);
  const documented = findDocumentedValue(parts);
  if (documented) return documented.value;
  const type = findType(parts);
  if (type === 'array' || parts.some(({ items }) => items !== undefined))
    return buildArray(draft, parts, inside);
  return buildPrimitiveExample(type, parts);
}

function isRecursive({ document }: Draft, schema: unknown, ancestors: readonly string[]): boolean {
  return document.merge(schema).pointers.some((pointer) => ancestors.includes(pointer));
}

/** Returns a value of the variant that holds no further values, which ends a recursion, if the schema has one. */
function buildRecursionEnd(draft: Draft, schema: unknown, place: Place): unknown {
  const end = draft.document
    .merge(schema)
    .variantLists.flatMap(({ schemas }) => schemas)
    .find((variant) => {
      const { parts, variantLists } = draft.document.merge(variant);
      const holdsValues = parts.some((part) => hasFields(part) || part.items !== undefined);
      return !holdsValues && variantLists.length === 0 && findType(parts) !== undefined;
    });
  return end === undefined ? undefined : buildValue(draft, end, place);
}

function hasFields({ properties, additionalProperties }: JsonObject): boolean {
  return isJsonObject(properties) || isJsonObject(additionalProperties);
}

/** Chooses the first variant of every list that ends, and joins all that one value satisfies. */
function chooseVariants(draft: Draft, schema: unknown, { ancestors, depth }: Place): ChosenSchema {
  const { document } = draft;
  const merged = document.merge(schema);
  let chosen: ChosenSchema = {
    schemas: [merged],
    ancestors: [...ancestors, ...merged.pointers],
    tags: [],
  };
  for (const { schemas, discriminator } of depth > MAX_DEPTH_LEVELS ? [] : merged.variantLists) {
    const variant = schemas.find(
      (one) => !isNull(document.merge(one)) && !isRecursive(draft, one, chosen.ancestors),
    );
    if (variant === undefined) continue;
    const inner = chooseVariants(draft, variant, { ancestors: chosen.ancestors, depth: depth + 1 });
    const property = getOwnMember(discriminator, 'propertyName');
    const tag = document.getDiscriminatorValue(discriminator, variant);
    const tags = typeof property === 'string' && tag !== undefined ? [[property, tag] as const] : [];
    chosen = {
      schemas: [...chosen.schemas, ...inner.schemas],
      ancestors: [...new Set([...chosen.ancestors, ...inner.ancestors])],
      tags: [...chosen.tags, ...tags, ...inner.tags],
    };
  }
  return chosen;
}

function findType(parts: readonly JsonObject[]): unknown {
  const types = parts.flatMap(({ type }) => (Array.isArray(type) ? type : [type]));
  return types.find((type) => typeof type === 'string' && type !== 'null');
}

function isNull({ parts }: MergedSchema): boolean {
  return parts.some(
    ({ type, enum: values }) =>
      type === 'null' ||
      (Array.isArray(values) && values.length > 0 && values.every((value) => value === null)),
  );
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && (value === null || Object.keys(value).length === 0);
}

/** Finds the value that the schemas name. An empty default says less than a value built from the types. */
function findDocumentedValue(parts: readonly JsonObject[]): { value: unknown } | undefined {
  for (const part of parts) {
    if (part.example !== undefined) return { value: part.example };
    if (Array.isArray(part.examples) && part.examples.length > 0) return { value: part.examples[0] };
  }
  for (const part of parts) {
    if (part.const !== undefined) return { value: part.const };
    if (part.default !== undefined && !isEmpty(part.default)) return { value: part.default };
    if (Array.isArray(part.enum) && part.enum.length > 0) {
      return { value: part.enum.find((value) => value !== null) ?? null };
    }
  }
  return undefined;
}

/** Joins the properties of all schemas of one value; one that several declare is an `allOf` of their schemas. */
function joinProperties(schemas: readonly MergedSchema[]): Map<string, unknown> {
  const joined = new Map<string, unknown>();
  for (const [name, schema] of schemas.flatMap(({ properties }) => [...properties]))
    joined.set(name, joined.has(name) ? { allOf: [joined.get(name), schema] } : schema);
  return joined;
}

function buildObject(draft: Draft, { schemas, tags }: ChosenSchema, place: Place): JsonObject {
  const { document, direction } = draft;
  const parts = schemas.flatMap((one) => one.parts);
  const required = new Set(schemas.flatMap((one) => [...one.required]));
  const properties = joinProperties(schemas);
  const additional = parts.find((part) => isJsonObject(part.additionalProperties))?.additionalProperties;
  for (const name of required) if (!properties.has(name)) properties.set(name, additional);
  // Each part may bring an example of its own properties.
  const examples = Object.assign({}, ...parts.map(({ example }) => (isJsonObject(example) ? example : {})));
  const unwanted = direction === 'request' ? 'readOnly' : 'writeOnly';
  const isRequiredOnly = direction === 'request' && required.size > 0;
  const values = new Map<string, unknown>();
  for (const [name, schema] of properties) {
    const isSkipped = document.merge(schema).parts.some((part) => part[unwanted] === true);
    if (isSkipped || (isRequiredOnly && !required.has(name))) continue;
    const value = Object.hasOwn(examples, name) ? examples[name] : buildValue(draft, schema, place);
    if (value !== undefined) values.set(name, value);
  }
  for (const [name, tag] of tags) {
    if (properties.has(name) && allowsTag(document.merge(properties.get(name)), tag)) values.set(name, tag);
  }
  if (additional !== undefined && properties.size === 0) {
    const value = buildValue(draft, additional, place);
    if (value !== undefined) values.set('name', value);
  }
  return Object.fromEntries(values);
}

/** Returns whether a property may have the value of a discriminator; authors sometimes list other values. */
function allowsTag({ parts }: MergedSchema, tag: string): boolean {
  return parts.every(
    (part) =>
      (!Array.isArray(part.enum) || part.enum.includes(tag)) &&
      (part.const === undefined || part.const === tag),
  );
}

function buildArray(draft: Draft, parts: readonly JsonObject[], place: Place): unknown[] {
  const items = parts.find((part) => part.items !== undefined)?.items;
  const least = parts.map(({ minItems }) => minItems).find((count) => typeof count === 'number') ?? 1;
  const count = Math.min(Math.max(least, 1), MAX_ITEMS);
  const first = buildValue(draft, items, place);
  if (first === undefined) return [];
  if (parts.some(({ uniqueItems }) => uniqueItems === true)) {
    const values = draft.document.merge(items).parts.find((part) => Array.isArray(part.enum))?.enum;
    return Array.isArray(values) ? values.slice(0, count) : [first];
  }
  return Array.from({ length: count }, () => first);
}
