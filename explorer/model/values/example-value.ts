import { dereference } from '../document/dereference.ts';
import {
  collectVariants,
  findDerivedSchemas,
  flattenAllOf,
  getDiscriminatorValue,
  getSchemaPointer,
} from '../document/flatten-all-of.ts';
import { getOwnMember, isJsonObject, type JsonObject } from '../document/json.ts';
import { buildPrimitiveExample } from './primitive-example.ts';

/** Who writes the value: a caller leaves out what is read-only, a server what is write-only. */
export type Direction = 'request' | 'response';

/** What makes a value: it ends in circles, and after so many values that nobody reads on. */
type Sketching = { document: unknown; direction: Direction; left: number };
type Place = { around: readonly string[]; depth: number };

/** Schemas that one value satisfies, and what discriminators call it. */
type Whole = {
  parts: readonly JsonObject[];
  around: readonly string[];
  tags: readonly (readonly [string, string])[];
};

const deepest = 24;

/** More items than this are not shown, whatever the least number of them is. */
const mostItems = 4;

/** A value of the schema, made from its examples, defaults and types. Undefined where a circle leaves nothing to say. */
export function buildExampleValue(document: unknown, schema: unknown, direction: Direction): unknown {
  return make({ document, direction, left: 400 }, schema, { around: [], depth: 0 });
}

function make(state: Sketching, schema: unknown, { around, depth }: Place): unknown {
  if (depth > deepest || state.left <= 0) return undefined;
  state.left -= 1;
  if (isCircle(state, schema, around)) return endOf(state, schema, { around, depth });
  const whole = wholeOf(state, schema, around, 0);
  const { parts } = whole;
  const inside = { around: whole.around, depth: depth + 1 };
  const own = valueGiven(parts.slice(0, 1));
  if (own) return own.value;
  if (parts.some(hasFields)) return object(state, whole, inside);
  const given = valueGiven(parts);
  if (given) return given.value;
  const type = typeNamed(parts);
  const items = parts.find((part) => part.items !== undefined)?.items;
  if (type === 'array' || items !== undefined) return array(state, parts, items, inside);
  return buildPrimitiveExample(type, parts);
}

/** The references that name a schema. */
function namesOf({ document }: Sketching, schema: unknown): string[] {
  const { pointers } = dereference(document, schema);
  const named = getSchemaPointer(document, schema);
  return named === undefined ? [...pointers] : [...pointers, named];
}

function isCircle(state: Sketching, schema: unknown, around: readonly string[]): boolean {
  return namesOf(state, schema).some((name) => around.includes(name));
}

/** What ends a circle: a variant that holds nothing further, if the schema has one. */
function endOf(state: Sketching, schema: unknown, place: Place): unknown {
  const { parts } = flattenAllOf(state.document, schema);
  const end = collectVariants(parts).find((variant) => {
    const { parts: own } = flattenAllOf(state.document, variant);
    const holds = own.some((part) => hasFields(part) || part.items !== undefined);
    return !holds && collectVariants(own).length === 0 && typeNamed(own) !== undefined;
  });
  return end === undefined ? undefined : make(state, end, place);
}

function hasFields({ properties, additionalProperties }: JsonObject): boolean {
  return isJsonObject(properties) || isJsonObject(additionalProperties);
}

/** Everything one value satisfies: the schema, its `allOf`, and of every list of variants the first that can be made. */
function wholeOf(state: Sketching, schema: unknown, around: readonly string[], depth: number): Whole {
  const { document } = state;
  const inside = [...around, ...namesOf(state, schema)];
  const { parts } = flattenAllOf(document, schema);
  const lists = parts.flatMap(({ oneOf, anyOf, discriminator }) =>
    [oneOf, anyOf].flatMap((list) =>
      Array.isArray(list) ? [{ list: list as unknown[], discriminator }] : [],
    ),
  );
  const inheritors = findDerivedSchemas(document, schema);
  const discriminator = parts.find((part) => part.discriminator !== undefined)?.discriminator;
  if (inheritors.length > 0) lists.push({ list: inheritors, discriminator });
  let whole: Whole = { parts, around: inside, tags: [] };
  for (const { list, discriminator: by } of depth > deepest ? [] : lists) {
    const variant = list.find((one) => !isNull(document, one) && !isCircle(state, one, whole.around));
    if (variant === undefined) continue;
    const more = wholeOf(state, variant, whole.around, depth + 1);
    const property = getOwnMember(by, 'propertyName');
    const tag = typeof property === 'string' ? getDiscriminatorValue(document, by, variant) : undefined;
    const tags = typeof property === 'string' && tag !== undefined ? [[property, tag] as const] : [];
    whole = {
      parts: [...whole.parts, ...more.parts],
      around: [...new Set([...whole.around, ...more.around])],
      tags: [...whole.tags, ...tags, ...more.tags],
    };
  }
  return whole;
}

function typeNamed(parts: readonly JsonObject[]): unknown {
  const types = parts.flatMap(({ type }) => (Array.isArray(type) ? type : [type]));
  return types.find((type) => typeof type === 'string' && type !== 'null');
}

function isNull(document: unknown, schema: unknown): boolean {
  const { parts } = flattenAllOf(document, schema);
  return parts.some(
    ({ type, enum: values }) =>
      type === 'null' ||
      (Array.isArray(values) && values.length > 0 && values.every((value) => value === null)),
  );
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && (value === null || Object.keys(value).length === 0);
}

/** The value the schemas themselves name. A default of nothing says less than a value made from the types. */
function valueGiven(parts: readonly JsonObject[]): { value: unknown } | undefined {
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

function object(state: Sketching, { parts, tags }: Whole, place: Place): JsonObject {
  const required = new Set(parts.flatMap(({ required: names }) => (Array.isArray(names) ? names : [])));
  const schemas = new Map<string, unknown[]>();
  for (const { properties } of parts) {
    for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {}))
      schemas.set(name, [...(schemas.get(name) ?? []), schema]);
  }
  const additional = parts.find((part) => isJsonObject(part.additionalProperties))?.additionalProperties;
  for (const name of required) {
    if (typeof name === 'string' && !schemas.has(name)) schemas.set(name, [additional]);
  }
  // One of several schemas may bring an example of its own share.
  const shares = Object.assign({}, ...parts.map(({ example }) => (isJsonObject(example) ? example : {})));
  const unwanted = state.direction === 'request' ? 'readOnly' : 'writeOnly';
  const short = state.direction === 'request' && required.size > 0;
  const made = new Map<string, unknown>();
  for (const [name, all] of schemas) {
    const schema = all.length === 1 ? all[0] : { allOf: all };
    const skipped = flattenAllOf(state.document, schema).parts.some((part) => part[unwanted] === true);
    if (skipped || (short && !required.has(name))) continue;
    const value = Object.hasOwn(shares, name) ? shares[name] : make(state, schema, place);
    if (value !== undefined) made.set(name, value);
  }
  for (const [name, tag] of tags) {
    if (allows(state.document, schemas.get(name), tag)) made.set(name, tag);
  }
  if (additional !== undefined && schemas.size === 0) {
    const value = make(state, additional, place);
    if (value !== undefined) made.set('name', value);
  }
  return Object.fromEntries(made);
}

/** Whether a field may have what a discriminator calls the variant; authors sometimes list other words. */
function allows(document: unknown, schemas: readonly unknown[] | undefined, tag: string): boolean {
  if (schemas === undefined) return false;
  const { parts } = flattenAllOf(document, { allOf: schemas });
  return parts.every(
    (part) =>
      (!Array.isArray(part.enum) || part.enum.includes(tag)) &&
      (part.const === undefined || part.const === tag),
  );
}

function array(state: Sketching, parts: readonly JsonObject[], items: unknown, place: Place): unknown[] {
  const least = parts.map(({ minItems }) => minItems).find((count) => typeof count === 'number') ?? 1;
  const count = Math.min(Math.max(least, 1), mostItems);
  const first = make(state, items, place);
  if (first === undefined) return [];
  if (parts.some(({ uniqueItems }) => uniqueItems === true)) {
    const values = flattenAllOf(state.document, items).parts.find((part) => Array.isArray(part.enum))?.enum;
    return Array.isArray(values) ? values.slice(0, count) : [first];
  }
  return Array.from({ length: count }, () => first);
}
