import { getPointerName } from '../document/dereference.ts';
import { findDerivedSchemas, flattenAllOf, getSchemaPointer } from '../document/flatten-all-of.ts';
import { createMemberReader, formatJson, type JsonObject } from '../document/json.ts';
import { collapse, readChildFields } from './child-fields.ts';
import { readFacts } from './facts.ts';
import type { Field, ReadContext } from './field.ts';
import { formatSchemaType } from './schema-type.ts';

/** Schemas nested deeper than this are shown as JSON. */
const deepest = 24;

type Task = { field: Field; schema: unknown; around: readonly string[]; depth: number };

function hasFields(parts: readonly JsonObject[]): boolean {
  return parts.some((part) =>
    ['properties', 'items', 'oneOf', 'anyOf', 'not', 'additionalProperties'].some(
      (key) => typeof part[key] === 'object',
    ),
  );
}

/**
 * Reads a schema with everything below it. Unfolding goes level by level, so that the first place a schema is unfolded
 * is the one nearest to the top, and every schema with a name is unfolded once: where it comes again, in a circle or
 * elsewhere on the page, the field leads to the first place.
 */
export function readSchema(shared: ReadContext, schema: unknown, root: Field): Field {
  const tasks: Task[] = [{ field: root, schema, around: [], depth: 0 }];
  for (let task = tasks.shift(); task; task = tasks.shift()) {
    tasks.push(...unfold(shared, task));
  }
  const moved = collapse(root);
  for (const place of shared.unfolded.values()) place.id = moved.get(place.id) ?? place.id;
  return root;
}

/** Fills one field and gives the fields below it as further tasks. */
function unfold(shared: ReadContext, { field, schema, around, depth }: Task): Task[] {
  const { document } = shared;
  const { parts, faults, unreadable: odd } = flattenAllOf(document, schema);
  const pointer = getSchemaPointer(document, schema);
  if (pointer !== undefined) field.schema ??= getPointerName(pointer);
  field.type = formatSchemaType(document, schema);
  field.faults.push(...faults);
  for (const value of odd) field.blocks.push({ title: 'Schema', text: formatJson(value) });
  shared.remainingFields -= 1;

  const members = parts.map(createMemberReader);
  const descriptions: string[] = [];
  for (const from of members) {
    const title = from.text('title');
    const description = from.text('description');
    if (description !== undefined && !descriptions.includes(description)) descriptions.push(description);
    if (title !== undefined && title !== field.name && title !== field.schema) {
      field.facts.push({ label: 'Title', text: title });
    }
    from.any('type');
    from.text('format');
    field.nullable = from.flag('nullable') || field.nullable;
    field.readOnly = from.flag('readOnly') || field.readOnly;
    field.writeOnly = from.flag('writeOnly') || field.writeOnly;
    field.deprecated = from.flag('deprecated') || field.deprecated;
    from.list('allOf');
  }
  const said = new Set([field.description, ...descriptions]);
  field.description = [...said].filter((text) => text.trim() !== '').join('\n\n');

  const holds = hasFields(parts) || findDerivedSchemas(document, schema).length > 0;
  const stop = holds ? unfoldLimit(shared, field, pointer, { around, depth }) : undefined;
  if (stop?.how === 'unfolded') field.unfoldedAt = stop.unfoldedAt;
  else if (stop) field.faults.push(stop.sentence);
  const below = readChildFields(shared, field, members, { schema, shown: stop === undefined });
  for (const from of members) readFacts(from, field.facts, field.blocks);
  const inside = pointer === undefined ? around : [...around, pointer];
  return below.map((child) => ({ ...child, around: inside, depth: depth + 1 }));
}

type Stop =
  | { how: 'unfolded'; unfoldedAt: NonNullable<Field['unfoldedAt']> }
  | { how: 'end'; sentence: string };

/** Why the fields below a field are not unfolded here; undefined when they are. */
function unfoldLimit(
  shared: ReadContext,
  field: Field,
  pointer: string | undefined,
  { around, depth }: Pick<Task, 'around' | 'depth'>,
): Stop | undefined {
  const first = pointer === undefined ? undefined : shared.unfolded.get(pointer);
  if (first && pointer !== undefined) {
    return { how: 'unfolded', unfoldedAt: { place: first, recursive: around.includes(pointer) } };
  }
  const what = pointer === undefined ? 'The fields below' : `The fields of ${getPointerName(pointer)}`;
  if (shared.remainingFields <= 0) {
    return {
      how: 'end',
      sentence: `${what} are not unfolded: this operation has too many to show them all here.`,
    };
  }
  if (depth >= deepest) {
    return { how: 'end', sentence: `${what} are not unfolded: they are nested more than ${deepest} deep.` };
  }
  if (pointer !== undefined)
    shared.unfolded.set(pointer, { id: field.id, label: field.name || getPointerName(pointer) });
  return undefined;
}
