import { dereference, getPointerName } from '../document/dereference.ts';
import { findDerivedSchemas, getSchemaPointer } from '../document/flatten-all-of.ts';
import { isJsonObject, type MemberReader } from '../document/json.ts';
import { createField, type Field, type FieldGroup, type ReadContext, reserveAnchor } from './field.ts';

/** A field below another, with the schema that is still to be read into it. */
export type ChildField = { field: Field; schema: unknown };

/**
 * Takes everything that lies below a field out of its schemas and, when it is to be `shown`, makes the fields for it.
 * What is malformed stays with its schema, to be shown as it is.
 */
export function readChildFields(
  shared: ReadContext,
  field: Field,
  members: readonly MemberReader[],
  { schema, shown }: { schema: unknown; shown: boolean },
): ChildField[] {
  const children = [
    ...readProperties(shared, field, members, shown),
    ...members.flatMap((from) => [
      ...readAdditional(shared, field, from, shown),
      ...readItems(shared, field, from, shown),
      ...readVariants(shared, field, from, shown),
    ]),
    ...(shown ? listVariants(shared, field, 'One of', findDerivedSchemas(shared.document, schema)) : []),
  ];
  return children;
}

function childOf(shared: ReadContext, parent: Field, suffix: string, name: string): Field {
  return createField(reserveAnchor(shared, `${parent.id}${suffix}`), name);
}

/** A property that several schemas of an `allOf` have is one field to which all of them apply. */
function readProperties(
  shared: ReadContext,
  field: Field,
  members: readonly MemberReader[],
  shown: boolean,
): ChildField[] {
  const required = new Set(members.flatMap((from) => requiredOf(from)));
  const schemas = new Map<string, unknown[]>();
  for (const from of members) {
    for (const [name, schema] of Object.entries(from.object('properties') ?? {})) {
      schemas.set(name, [...(schemas.get(name) ?? []), schema]);
    }
  }
  if (!shown) return [];
  // A name that is required but has no schema is still something the caller must send.
  for (const name of required) if (!schemas.has(name)) schemas.set(name, []);
  const children = [...schemas].map(([name, all]) => {
    const child = childOf(shared, field, `.${name}`, name);
    child.required = required.has(name);
    return { field: child, schema: all.length === 1 ? all[0] : { allOf: all } };
  });
  addGroup(field, 'properties', 'Fields', children);
  return children;
}

function requiredOf(from: MemberReader): string[] {
  const names = from.list('required');
  if (names === undefined) return [];
  return names.filter((name) => typeof name === 'string');
}

function addGroup(
  field: Field,
  kind: FieldGroup['kind'],
  title: string,
  children: readonly ChildField[],
): void {
  if (children.length === 0) return;
  const fields = children.map((child) => child.field);
  const same = field.groups.find((group) => group.kind === kind && group.title === title);
  if (same) same.fields.push(...fields);
  else field.groups.push({ kind, title, fields });
}

function addChild(
  shared: ReadContext,
  field: Field,
  how: { kind: FieldGroup['kind']; title: string; suffix: string; name: string; schema: unknown },
): ChildField[] {
  const child = childOf(shared, field, how.suffix, how.name);
  child.synthetic = true;
  const children = [{ field: child, schema: how.schema }];
  addGroup(field, how.kind, how.title, children);
  return children;
}

function readAdditional(shared: ReadContext, field: Field, from: MemberReader, shown: boolean): ChildField[] {
  if (!from.has('additionalProperties')) return [];
  const schema = from.object('additionalProperties');
  if (schema === undefined) {
    const closed = from.any('additionalProperties');
    if (closed === false) field.facts.push({ label: 'Other fields', text: 'none are allowed' });
    else if (closed === true) field.facts.push({ label: 'Other fields', text: 'any' });
    else field.facts.push({ label: 'Other fields', codes: [JSON.stringify(closed) ?? 'undefined'] });
    return [];
  }
  if (!shown) return [];
  const hasOthers = field.groups.some(({ kind }) => kind === 'properties');
  const name = hasOthers ? 'any other name' : 'any name';
  return addChild(shared, field, { kind: 'properties', title: 'Fields', suffix: '.*', name, schema });
}

function readItems(shared: ReadContext, field: Field, from: MemberReader, shown: boolean): ChildField[] {
  if (!from.has('items')) return [];
  const schema = from.any('items');
  if (!shown) return [];
  return addChild(shared, field, { kind: 'items', title: 'Items', suffix: '[]', name: 'each item', schema });
}

function readVariants(shared: ReadContext, field: Field, from: MemberReader, shown: boolean): ChildField[] {
  const lists = [
    { title: 'One of', schemas: from.list('oneOf') ?? [] },
    { title: 'Any of', schemas: from.list('anyOf') ?? [] },
  ];
  const none = from.object('not');
  if (!shown) return [];
  const children = lists.flatMap(({ title, schemas }) => listVariants(shared, field, title, schemas));
  if (!none) return children;
  const what = {
    kind: 'not',
    title: 'Not',
    suffix: '.not',
    name: 'what is not allowed',
    schema: none,
  } as const;
  return [...children, ...addChild(shared, field, what)];
}

function listVariants(
  shared: ReadContext,
  field: Field,
  title: string,
  schemas: readonly unknown[],
): ChildField[] {
  const variants = schemas.map((schema, index) => {
    const child = childOf(shared, field, `.${title.toLowerCase().replace(' ', '-')}-${index + 1}`, '');
    child.name = variantName(shared.document, schema) ?? `variant ${index + 1}`;
    child.synthetic = true;
    return { field: child, schema };
  });
  addGroup(field, 'variants', title, variants);
  return variants;
}

function variantName(document: unknown, schema: unknown): string | undefined {
  const { value } = dereference(document, schema);
  if (isJsonObject(value) && typeof value.title === 'string') return value.title;
  const pointer = getSchemaPointer(document, schema);
  return pointer === undefined ? undefined : getPointerName(pointer);
}

/** Whether a field says nothing that its type, which stands in the field above, does not say too. */
function isBare(field: Field): boolean {
  const {
    description,
    facts,
    blocks,
    unfoldedAt: again,
    faults,
    nullable,
    readOnly,
    writeOnly,
    deprecated,
  } = field;
  const lists = [facts, blocks, faults].every((list) => list.length === 0);
  return lists && description === '' && !again && !nullable && !readOnly && !writeOnly && !deprecated;
}

/**
 * Takes out the steps that only cost the reader a look: items that say nothing of their own, and bare variants. Gives the
 * anchors that went away, each with the one that stands in its place.
 */
export function collapse(field: Field): Map<string, string> {
  const moved = new Map<string, string>();
  for (const group of field.groups) {
    for (const child of group.fields) for (const [from, to] of collapse(child)) moved.set(from, to);
  }
  field.groups = field.groups.flatMap((group) => {
    const [item] = group.fields;
    if (group.kind === 'items' && item && isBare(item)) {
      field.schema ??= item.schema;
      for (const [from, to] of moved) if (to === item.id) moved.set(from, field.id);
      moved.set(item.id, field.id);
      return item.groups;
    }
    const silent = group.fields.every((child) => isBare(child) && child.groups.length === 0);
    return group.kind === 'variants' && silent && !group.fields.some(hasOwnName) ? [] : [group];
  });
  return moved;
}

function hasOwnName(variant: Field): boolean {
  return !/^variant \d+$/.test(variant.name);
}
