import { type Dereferenced, dereference, getPointerName } from './dereference.ts';
import { getOwnMember, isJsonObject, type JsonObject } from './json.ts';

/** Alternatives of a schema. A discriminator, where there is one, names the alternative that a value has. */
type VariantList = {
  title: 'One of' | 'Any of';
  schemas: readonly unknown[];
  discriminator: unknown;
};

/** A schema and everything its `allOf` joins to it, with references followed. */
export type MergedSchema = {
  /** The joined schemas, the schema itself first. All of them hold for a value. */
  parts: readonly JsonObject[];
  /** The reference that names the schema, if one does. */
  pointer: string | undefined;
  /** Every reference followed from the schema to its members; a schema inside with one of these is recursive. */
  pointers: readonly string[];
  /** The schema of each property. One that several parts declare is an `allOf` of their schemas. */
  properties: ReadonlyMap<string, unknown>;
  /** The names that any part requires, declared or not. */
  required: ReadonlySet<string>;
  /** The `oneOf` and `anyOf` of all parts, then the schemas that extend this one. */
  variantLists: readonly VariantList[];
  /** Sentences about references that could not be followed. */
  faults: readonly string[];
  /** Values in the place of a schema that are no schema. */
  unreadable: readonly unknown[];
};

type Parts = { parts: JsonObject[]; faults: string[]; unreadable: unknown[] };

/** Members that would hide those of the referenced schema if they were laid over them. */
const STRUCTURAL_MEMBERS = [
  'properties',
  'required',
  'items',
  'allOf',
  'oneOf',
  'anyOf',
  'additionalProperties',
  'enum',
];

function hasStructure(schema: unknown, except?: string): boolean {
  return STRUCTURAL_MEMBERS.some((key) => key !== except && getOwnMember(schema, key) !== undefined);
}

function isReference(schema: unknown): boolean {
  return typeof getOwnMember(schema, '$ref') === 'string';
}

function listJoinedSchemas(schema: unknown): readonly unknown[] {
  const joined = getOwnMember(schema, 'allOf');
  return Array.isArray(joined) ? joined : [];
}

/** Turns a reference with structural members beside it into an `allOf` of both, so that neither hides the other. */
function separateSiblings(schema: unknown): unknown {
  if (!isReference(schema) || !isJsonObject(schema)) return schema;
  const { $ref, ...siblings } = schema;
  return hasStructure(siblings) ? { ...siblings, allOf: [{ $ref }, ...listJoinedSchemas(siblings)] } : schema;
}

/** Returns the schema that a value of a discriminator's `mapping` names: by a reference, or by its name alone. */
function getMappedSchema(target: unknown): unknown {
  if (typeof target !== 'string') return undefined;
  return { $ref: /[#/.]/.test(target) ? target : `#/components/schemas/${target}` };
}

function mergeProperties(parts: readonly JsonObject[]): Map<string, unknown> {
  const schemas = new Map<string, unknown[]>();
  for (const { properties } of parts) {
    for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {}))
      schemas.set(name, [...(schemas.get(name) ?? []), schema]);
  }
  return new Map(
    [...schemas].map(([name, declared]) => [name, declared.length === 1 ? declared[0] : { allOf: declared }]),
  );
}

function listRequired(parts: readonly JsonObject[]): string[] {
  return parts
    .flatMap(({ required }) => (Array.isArray(required) ? required : []))
    .filter((name) => typeof name === 'string');
}

/**
 * A document with its references followed and its schemas merged, each once: readers ask it in place of the document.
 * No question throws, whatever the document holds, and every answer is finite although schemas may be recursive.
 */
export class ResolvedDocument {
  readonly root: unknown;
  readonly #merged = new WeakMap<object, MergedSchema>();

  constructor(root: unknown) {
    this.root = root;
  }

  /** Returns the value that a reference leads to, and any other value as it is. */
  resolve(value: unknown): Dereferenced {
    return dereference(this.root, value);
  }

  /** Returns a schema merged with its `allOf`. An absent schema and `true` allow everything and have no parts. */
  merge(schema: unknown): MergedSchema {
    if (!isJsonObject(schema)) return this.#mergeParts(schema);
    const known = this.#merged.get(schema);
    if (known) return known;
    const merged = this.#mergeParts(schema);
    this.#merged.set(schema, merged);
    return merged;
  }

  /** Returns the value of the discriminator for a variant: its key in the mapping, else the name of its schema. */
  getDiscriminatorValue(discriminator: unknown, variant: unknown): string | undefined {
    const { pointer } = this.merge(variant);
    if (pointer === undefined) return undefined;
    const mapping = getOwnMember(discriminator, 'mapping');
    const mapped = Object.entries(isJsonObject(mapping) ? mapping : {}).find(
      ([, target]) => getOwnMember(getMappedSchema(target), '$ref') === pointer,
    );
    return mapped?.[0] ?? getPointerName(pointer);
  }

  #mergeParts(schema: unknown): MergedSchema {
    const into: Parts = { parts: [], faults: [], unreadable: [] };
    this.#collectParts(schema, into, { ancestors: [], collected: new Set() });
    const { parts } = into;
    const pointer = this.#getSchemaPointer(schema);
    const { pointers } = this.resolve(schema);
    const variantLists = parts.flatMap(({ oneOf, anyOf, discriminator }): VariantList[] => [
      ...(Array.isArray(oneOf) ? [{ title: 'One of' as const, schemas: oneOf, discriminator }] : []),
      ...(Array.isArray(anyOf) ? [{ title: 'Any of' as const, schemas: anyOf, discriminator }] : []),
    ]);
    const derived = this.#listDerivedSchemas(schema, pointer);
    if (derived.length > 0) {
      const { discriminator } = parts.find((part) => part.discriminator !== undefined) ?? {};
      variantLists.push({ title: 'One of', schemas: derived, discriminator });
    }
    return {
      ...into,
      pointer,
      pointers: pointer === undefined ? pointers : [...new Set([...pointers, pointer])],
      properties: mergeProperties(parts),
      required: new Set(listRequired(parts)),
      variantLists: variantLists.filter(({ schemas }) => schemas.length > 0),
    };
  }

  /** `collected` makes a schema that several parts join count once, or twenty levels of pairs were a million parts. */
  #collectParts(
    schema: unknown,
    into: Parts,
    { ancestors, collected }: { ancestors: readonly string[]; collected: Set<string> },
  ): void {
    const { value, pointers, fault } = this.resolve(separateSiblings(schema));
    const circular = pointers.find((pointer) => ancestors.includes(pointer));
    if (fault !== undefined) into.faults.push(fault);
    else if (circular !== undefined)
      into.faults.push(`The schema ${circular} contains itself by allOf and cannot be read.`);
    if (fault !== undefined || circular !== undefined || value === undefined || value === true) return;
    if (!isJsonObject(value)) {
      into.unreadable.push(value);
      return;
    }
    const isPlainReference = Object.keys(isJsonObject(schema) ? schema : {}).length === 1;
    const [pointer] = pointers;
    if (pointer !== undefined && isPlainReference) {
      if (collected.has(pointer)) return;
      collected.add(pointer);
    }
    into.parts.push(value);
    for (const part of listJoinedSchemas(value))
      this.#collectParts(part, into, { ancestors: [...ancestors, ...pointers], collected });
  }

  /**
   * Returns the reference that names a schema: its own, or the only one of an `allOf` that has only remarks beside it.
   * OpenAPI 3.0 authors describe a reference in that way.
   */
  #getSchemaPointer(schema: unknown): string | undefined {
    const { value, pointers } = this.resolve(schema);
    const joined = listJoinedSchemas(value);
    if (pointers.length > 0 || joined.length === 0 || hasStructure(value, 'allOf')) return pointers[0];
    const [named, ...others] = joined.toSorted((a, b) => Number(isReference(b)) - Number(isReference(a)));
    return others.some((part) => isReference(part) || hasStructure(part)) || hasStructure(named)
      ? undefined
      : this.resolve(named).pointers[0];
  }

  /**
   * Lists references to the schemas that extend one by `allOf`, which is how OpenAPI 3.0 writes inheritance. A schema
   * with a `discriminator` and no variants of its own has those that its mapping names, else all that refer to it.
   */
  #listDerivedSchemas(schema: unknown, pointer: string | undefined): { $ref: string }[] {
    const { value } = this.resolve(pointer === undefined ? schema : { $ref: pointer });
    if (!isJsonObject(value) || 'oneOf' in value || 'anyOf' in value) return [];
    const { discriminator } = value;
    if (typeof getOwnMember(discriminator, 'propertyName') !== 'string') return [];
    const mapping = getOwnMember(discriminator, 'mapping');
    const derived = isJsonObject(mapping)
      ? Object.values(mapping).flatMap((target) => this.resolve(getMappedSchema(target)).pointers.slice(0, 1))
      : this.#listSchemasExtending(pointer);
    return [...new Set(derived)].filter(($ref) => $ref !== pointer).map(($ref) => ({ $ref }));
  }

  #listSchemasExtending(pointer: string | undefined): string[] {
    if (pointer === undefined) return [];
    const schemas = getOwnMember(getOwnMember(this.root, 'components'), 'schemas');
    return Object.entries(isJsonObject(schemas) ? schemas : {})
      .filter(([, schema]) =>
        listJoinedSchemas(schema).some((part) => getOwnMember(part, '$ref') === pointer),
      )
      .map(([name]) => `#/components/schemas/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}
