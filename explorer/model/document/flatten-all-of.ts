import { dereference, getPointerName } from './dereference.ts';
import { getOwnMember, isJsonObject, type JsonObject } from './json.ts';

/** A schema taken apart: itself and everything its `allOf` joins to it, with references followed. */
export type FlattenedSchema = {
  parts: readonly JsonObject[];
  faults: readonly string[];
  unreadable: readonly unknown[];
};

/** Members that would hide those of a reference if they were laid over them. */
const holding = [
  'properties',
  'required',
  'items',
  'allOf',
  'oneOf',
  'anyOf',
  'additionalProperties',
  'enum',
];

/** A reference with more than remarks beside it, as the two schemas it stands for. */
function split(schema: unknown): unknown {
  if (typeof getOwnMember(schema, '$ref') !== 'string' || !isJsonObject(schema)) return schema;
  const { $ref, ...beside } = schema;
  if (!isHolding(beside)) return schema;
  const joined = Array.isArray(beside.allOf) ? beside.allOf : [];
  return { ...beside, allOf: [{ $ref }, ...joined] };
}

/**
 * The schemas that all hold for a value. A schema that is absent, `true` or empty allows everything and has nothing to
 * say; what is no schema at all comes back as `odd`.
 */
export function flattenAllOf(
  document: unknown,
  schema: unknown,
  around: readonly string[] = [],
): FlattenedSchema {
  const { value, pointers, fault } = dereference(document, split(schema));
  if (fault !== undefined) return { parts: [], faults: [fault], unreadable: [] };
  const again = pointers.find((pointer) => around.includes(pointer));
  if (again !== undefined) {
    return {
      parts: [],
      faults: [`The schema ${again} holds itself by allOf, so it cannot be read.`],
      unreadable: [],
    };
  }
  if (value === undefined || value === true) return { parts: [], faults: [], unreadable: [] };
  if (!isJsonObject(value)) return { parts: [], faults: [], unreadable: [value] };
  const inside = [...around, ...pointers];
  const joined = Array.isArray(value.allOf) ? value.allOf : [];
  const all = joined.map((part: unknown) => flattenAllOf(document, part, inside));
  return {
    parts: [value, ...all.flatMap(({ parts }) => parts)],
    faults: all.flatMap(({ faults }) => faults),
    unreadable: all.flatMap(({ unreadable: odd }) => odd),
  };
}

/**
 * The reference that names a schema: its own, or the only one of an `allOf` that has but remarks beside it, which is how
 * OpenAPI 3.0 authors put a description beside a reference.
 */
export function getSchemaPointer(document: unknown, schema: unknown): string | undefined {
  const { value, pointers } = dereference(document, schema);
  const own = pointers[0];
  if (own !== undefined || !isJsonObject(value) || !Array.isArray(value.allOf) || isHolding(value, 'allOf'))
    return own;
  const [named, ...others] = value.allOf.toSorted((one: unknown, other: unknown) => rank(one) - rank(other));
  return others.some((part) => rank(part) === 0 || isHolding(part)) || isHolding(named)
    ? undefined
    : dereference(document, named).pointers[0];
}

/** Whether a schema says what a value holds, by another member than one. */
function isHolding(schema: unknown, except?: string): boolean {
  return holding.some((key) => key !== except && getOwnMember(schema, key) !== undefined);
}

/** References go first. */
function rank(schema: unknown): number {
  return typeof getOwnMember(schema, '$ref') === 'string' ? 0 : 1;
}

/** The lists of alternatives that schemas offer. */
export function collectVariants(parts: readonly JsonObject[]): unknown[] {
  return parts.flatMap(({ oneOf, anyOf }) =>
    [oneOf, anyOf].flatMap((list) => (Array.isArray(list) ? list : [])),
  );
}

/** The schema that a value of a mapping names: a reference, or the name of a schema. */
function mapped(target: unknown): unknown {
  if (typeof target !== 'string') return undefined;
  return { $ref: /[#/.]/.test(target) ? target : `#/components/schemas/${target}` };
}

/**
 * The schemas that extend one by `allOf`, which is how OpenAPI 3.0 writes inheritance: a schema with a `discriminator`
 * and no list of variants has those that its mapping names, else all that refer to it.
 */
export function findDerivedSchemas(document: unknown, schema: unknown): unknown[] {
  const own = getSchemaPointer(document, schema);
  const { value } = dereference(document, own === undefined ? schema : { $ref: own });
  if (!isJsonObject(value) || 'oneOf' in value || 'anyOf' in value) return [];
  const { discriminator } = value;
  if (typeof getOwnMember(discriminator, 'propertyName') !== 'string') return [];
  const mapping = getOwnMember(discriminator, 'mapping');
  const pointers = isJsonObject(mapping)
    ? Object.values(mapping).flatMap((target) => dereference(document, mapped(target)).pointers.slice(0, 1))
    : extending(document, own);
  return [...new Set(pointers)].filter((pointer) => pointer !== own).map(($ref) => ({ $ref }));
}

/** The references to all named schemas that have one in their `allOf`. */
function extending(document: unknown, pointer: string | undefined): string[] {
  if (pointer === undefined) return [];
  const schemas = getOwnMember(getOwnMember(document, 'components'), 'schemas');
  return Object.entries(isJsonObject(schemas) ? schemas : {}).flatMap(([name, schema]) => {
    const joined = getOwnMember(schema, 'allOf');
    const extend =
      Array.isArray(joined) && joined.some((part: unknown) => getOwnMember(part, '$ref') === pointer);
    return extend ? [`#/components/schemas/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`] : [];
  });
}

/** What a discriminator calls a variant: its name in the mapping, else the name of its schema. */
export function getDiscriminatorValue(
  document: unknown,
  discriminator: unknown,
  variant: unknown,
): string | undefined {
  const pointer = getSchemaPointer(document, variant);
  if (pointer === undefined) return undefined;
  const mapping = getOwnMember(discriminator, 'mapping');
  const named = Object.entries(isJsonObject(mapping) ? mapping : {}).find(
    ([, target]) => getOwnMember(mapped(target), '$ref') === pointer,
  );
  return named?.[0] ?? getPointerName(pointer);
}
