import { getPointerName } from '../document/dereference.ts';
import { formatCompactJson, isJsonObject, type MemberReader } from '../document/json.ts';
import type { MergedSchema, ResolvedDocument } from '../document/resolved-document.ts';
import {
  createField,
  type Fact,
  type Field,
  type FieldGroup,
  type ReadContext,
  reserveAnchor,
} from './field.ts';

/** A field below another, with the schema that is still to be read into it. */
export type ChildField = { field: Field; schema: unknown };

/** The group that a child joins, its part of the anchor, and its name. `synthetic` names are not in the document. */
type ChildPlace = Pick<FieldGroup, 'kind' | 'title'> & Pick<Field, 'name' | 'synthetic'> & { suffix: string };

type AddChild = (place: ChildPlace, schema: unknown) => ChildField;

/** Creates the fields below a field, adds them to its groups, and returns them in their order. */
export function readChildFields(shared: ReadContext, field: Field, merged: MergedSchema): ChildField[] {
  const add: AddChild = ({ kind, title, suffix, name, synthetic }, schema) => {
    const child = createField(reserveAnchor(shared, `${field.id}${suffix}`), name);
    child.synthetic = synthetic;
    const group = field.groups.find((one) => one.kind === kind && one.title === title);
    if (group) group.fields.push(child);
    else field.groups.push({ kind, title, fields: [child] });
    return { field: child, schema };
  };
  return [
    ...addProperties(merged, add),
    ...addAdditionalProperties(merged, field, add),
    ...addItems(merged, add),
    ...addVariants(shared.document, merged, add),
    ...addNegation(merged, add),
  ];
}

/** Adds the properties, and the required names without a schema: the caller must send these too. */
function addProperties({ properties, required }: MergedSchema, add: AddChild): ChildField[] {
  const names = new Set([...properties.keys(), ...required]);
  return [...names].map((name) => {
    const place: ChildPlace = {
      kind: 'properties',
      title: 'Fields',
      suffix: `.${name}`,
      name,
      synthetic: false,
    };
    const child = add(place, properties.has(name) ? properties.get(name) : { allOf: [] });
    child.field.required = required.has(name);
    return child;
  });
}

function addAdditionalProperties({ parts }: MergedSchema, field: Field, add: AddChild): ChildField[] {
  return parts.flatMap(({ additionalProperties: schema }) => {
    if (!isJsonObject(schema)) return [];
    const name = field.groups.some(({ kind }) => kind === 'properties') ? 'any other name' : 'any name';
    return [add({ kind: 'properties', title: 'Fields', suffix: '.*', name, synthetic: true }, schema)];
  });
}

function addItems({ parts }: MergedSchema, add: AddChild): ChildField[] {
  const place: ChildPlace = {
    kind: 'items',
    title: 'Items',
    suffix: '[]',
    name: 'each item',
    synthetic: true,
  };
  return parts.flatMap((part) => (Object.hasOwn(part, 'items') ? [add(place, part.items)] : []));
}

/** Adds the variants by their title, by the name of their schema, or by their number. */
function addVariants(
  document: ResolvedDocument,
  { variantLists }: MergedSchema,
  add: AddChild,
): ChildField[] {
  return variantLists.flatMap(({ title, schemas }) =>
    schemas.map((schema, index) => {
      const suffix = `.${title.toLowerCase().replace(' ', '-')}-${index + 1}`;
      const name = getVariantName(document, schema) ?? `variant ${index + 1}`;
      return add({ kind: 'variants', title, suffix, name, synthetic: true }, schema);
    }),
  );
}

function getVariantName(document: ResolvedDocument, schema: unknown): string | undefined {
  const { value } = document.resolve(schema);
  if (isJsonObject(value) && typeof value.title === 'string') return value.title;
  const { pointer } = document.merge(schema);
  return pointer === undefined ? undefined : getPointerName(pointer);
}

function addNegation({ parts }: MergedSchema, add: AddChild): ChildField[] {
  const place: ChildPlace = {
    kind: 'not',
    title: 'Not',
    suffix: '.not',
    name: 'excluded values',
    synthetic: true,
  };
  return parts.flatMap(({ not }) => (isJsonObject(not) ? [add(place, not)] : []));
}

/** Marks the members that fields stand for as read; a malformed one stays unread and is shown as JSON. */
export function readStructure(from: MemberReader, facts: Fact[]): void {
  from.any('type');
  from.text('format');
  for (const key of ['allOf', 'oneOf', 'anyOf', 'required']) from.list(key);
  from.object('properties');
  from.object('not');
  from.any('items');
  if (!from.has('additionalProperties')) return;
  const additional = from.any('additionalProperties');
  if (isJsonObject(additional)) return;
  if (additional === false) facts.push({ label: 'Other fields', text: 'none are allowed' });
  else if (additional === true) facts.push({ label: 'Other fields', text: 'any' });
  else facts.push({ label: 'Other fields', codes: [formatCompactJson(additional)] });
}

/** Returns whether a field adds nothing to its type, which the field above it shows. */
function isBare(field: Field): boolean {
  const { description, facts, blocks, faults, unfoldedAt } = field;
  const { nullable, readOnly, writeOnly, deprecated } = field;
  const isSilent = [facts, blocks, faults].every((list) => list.length === 0) && description === '';
  return isSilent && !unfoldedAt && !nullable && !readOnly && !writeOnly && !deprecated;
}

/**
 * Removes the levels that only cost the reader a click: items that add nothing of their own, and bare variants. Returns
 * the anchors that went away, each with the anchor that replaces it.
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
    const isSilent = group.fields.every((child) => isBare(child) && child.groups.length === 0);
    return group.kind === 'variants' && isSilent && !group.fields.some(hasOwnName) ? [] : [group];
  });
  return moved;
}

function hasOwnName(variant: Field): boolean {
  return !/^variant \d+$/.test(variant.name);
}
