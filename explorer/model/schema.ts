import { readChildren, tidy } from './children.ts';
import { readFacts } from './facts.ts';
import type { Field, Shared } from './field.ts';
import { type Dict, membersOf, print } from './json.ts';
import { inheritorsOf, partsOf, pointerOf } from './parts.ts';
import { nameOf } from './reference.ts';
import { typeOf } from './type-of.ts';

/** Schemas nested deeper than this are shown as JSON. */
const deepest = 24;

type Task = { field: Field; schema: unknown; around: readonly string[]; depth: number };

function hasFields(parts: readonly Dict[]): boolean {
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
export function readSchema(shared: Shared, schema: unknown, root: Field): Field {
  const tasks: Task[] = [{ field: root, schema, around: [], depth: 0 }];
  for (let task = tasks.shift(); task; task = tasks.shift()) {
    tasks.push(...unfold(shared, task));
  }
  const moved = tidy(root);
  for (const place of shared.unfolded.values()) place.id = moved.get(place.id) ?? place.id;
  return root;
}

/** Fills one field and gives the fields below it as further tasks. */
function unfold(shared: Shared, { field, schema, around, depth }: Task): Task[] {
  const { document } = shared;
  const { parts, faults, odd } = partsOf(document, schema);
  const pointer = pointerOf(document, schema);
  if (pointer !== undefined) field.schema ??= nameOf(pointer);
  field.type = typeOf(document, schema);
  field.faults.push(...faults);
  for (const value of odd) field.blocks.push({ title: 'Schema', text: print(value) });
  shared.left -= 1;

  const members = parts.map(membersOf);
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

  const holds = hasFields(parts) || inheritorsOf(document, schema).length > 0;
  const stop = holds ? whyNot(shared, field, pointer, { around, depth }) : undefined;
  if (stop?.how === 'again') field.again = stop.again;
  else if (stop) field.faults.push(stop.sentence);
  const below = readChildren(shared, field, members, { schema, shown: stop === undefined });
  for (const from of members) readFacts(from, field.facts, field.blocks);
  const inside = pointer === undefined ? around : [...around, pointer];
  return below.map((child) => ({ ...child, around: inside, depth: depth + 1 }));
}

type Stop = { how: 'again'; again: NonNullable<Field['again']> } | { how: 'end'; sentence: string };

/** Why the fields below a field are not unfolded here; undefined when they are. */
function whyNot(
  shared: Shared,
  field: Field,
  pointer: string | undefined,
  { around, depth }: Pick<Task, 'around' | 'depth'>,
): Stop | undefined {
  const first = pointer === undefined ? undefined : shared.unfolded.get(pointer);
  if (first && pointer !== undefined) {
    return { how: 'again', again: { place: first, recursive: around.includes(pointer) } };
  }
  const what = pointer === undefined ? 'The fields below' : `The fields of ${nameOf(pointer)}`;
  if (shared.left <= 0) {
    return {
      how: 'end',
      sentence: `${what} are not unfolded: this operation has too many to show them all here.`,
    };
  }
  if (depth >= deepest) {
    return { how: 'end', sentence: `${what} are not unfolded: they are nested more than ${deepest} deep.` };
  }
  if (pointer !== undefined)
    shared.unfolded.set(pointer, { id: field.id, label: field.name || nameOf(pointer) });
  return undefined;
}
