import { getPointerName } from '../document/dereference.ts';
import {
  createMemberReader,
  formatJson,
  isJsonObject,
  type JsonObject,
  type MemberReader,
} from '../document/json.ts';
import type { MergedSchema, ResolvedDocument } from '../document/resolved-document.ts';
import { collapse, readChildFields, readStructure } from './child-fields.ts';
import { readFacts } from './facts.ts';
import type { Field, ReadContext } from './field.ts';

/** The fields of schemas nested deeper than this are not unfolded. */
const MAX_DEPTH_LEVELS = 24;

/** Arrays of arrays and choices of choices nested deeper than this are "any", because a recursive type has no end. */
const MAX_TYPE_DEPTH_LEVELS = 5;

type Task = { field: Field; schema: unknown; ancestors: readonly string[]; depth: number };

/** The reason why the fields below a field are not unfolded there. */
type UnfoldLimit =
  | { kind: 'unfolded-elsewhere'; unfoldedAt: NonNullable<Field['unfoldedAt']> }
  | { kind: 'exhausted'; fault: string };

/**
 * Reads a schema with everything below it into `root`. It goes level by level, so that the first place where a schema is
 * unfolded is the one nearest to the top. Every named schema is unfolded once: another field with the same schema, in a
 * circle or elsewhere on the page, links to the first place.
 */
export function readSchema(shared: ReadContext, schema: unknown, root: Field): Field {
  const tasks: Task[] = [{ field: root, schema, ancestors: [], depth: 0 }];
  for (let task = tasks.shift(); task; task = tasks.shift()) tasks.push(...unfold(shared, task));
  const moved = collapse(root);
  for (const place of shared.unfolded.values()) place.id = moved.get(place.id) ?? place.id;
  return root;
}

/** Fills one field and returns the fields below it as further tasks. */
function unfold(shared: ReadContext, { field, schema, ancestors, depth }: Task): Task[] {
  const { document } = shared;
  const merged = document.merge(schema);
  const { parts, pointer, faults, unreadable } = merged;
  if (pointer !== undefined) field.schema ??= getPointerName(pointer);
  field.type = formatSchemaType(document, schema);
  field.faults.push(...faults);
  for (const value of unreadable) field.blocks.push({ title: 'Schema', text: formatJson(value) });
  shared.remainingFields -= 1;

  const members = parts.map(createMemberReader);
  readOwnMembers(field, members);
  const limit = hasFields(merged) ? findUnfoldLimit(shared, field, { pointer, ancestors, depth }) : undefined;
  if (limit?.kind === 'unfolded-elsewhere') field.unfoldedAt = limit.unfoldedAt;
  else if (limit) field.faults.push(limit.fault);
  const children = limit ? [] : readChildFields(shared, field, merged);
  for (const from of members) readStructure(from, field.facts);
  for (const from of members) readFacts(from, field);
  const inside = pointer === undefined ? ancestors : [...ancestors, pointer];
  return children.map((child) => ({ ...child, ancestors: inside, depth: depth + 1 }));
}

/** Reads the members that describe the field itself. Parts often repeat a description, which is shown once. */
function readOwnMembers(field: Field, members: readonly MemberReader[]): void {
  const descriptions = new Set([field.description]);
  for (const from of members) {
    const title = from.text('title');
    descriptions.add(from.text('description') ?? '');
    if (title !== undefined && title !== field.name && title !== field.schema) {
      field.facts.push({ label: 'Title', text: title });
    }
    field.nullable = from.flag('nullable') || field.nullable;
    field.readOnly = from.flag('readOnly') || field.readOnly;
    field.writeOnly = from.flag('writeOnly') || field.writeOnly;
    field.deprecated = from.flag('deprecated') || field.deprecated;
  }
  field.description = [...descriptions].filter((text) => text.trim() !== '').join('\n\n');
}

function hasFields({ parts, variantLists }: MergedSchema): boolean {
  const structural = ['properties', 'items', 'oneOf', 'anyOf', 'not', 'additionalProperties'];
  return (
    variantLists.length > 0 || parts.some((part) => structural.some((key) => typeof part[key] === 'object'))
  );
}

/** Returns the reason why the fields below a field are not unfolded here, or undefined and takes note of the place. */
function findUnfoldLimit(
  shared: ReadContext,
  field: Field,
  { pointer, ancestors, depth }: Pick<Task, 'ancestors' | 'depth'> & { pointer: string | undefined },
): UnfoldLimit | undefined {
  const first = pointer === undefined ? undefined : shared.unfolded.get(pointer);
  if (first && pointer !== undefined) {
    const unfoldedAt = { place: first, recursive: ancestors.includes(pointer) };
    return { kind: 'unfolded-elsewhere', unfoldedAt };
  }
  const fields = pointer === undefined ? 'The fields below' : `The fields of ${getPointerName(pointer)}`;
  if (shared.remainingFields <= 0) {
    const fault = `${fields} are not unfolded: this operation has too many to show them all here.`;
    return { kind: 'exhausted', fault };
  }
  if (depth >= MAX_DEPTH_LEVELS) {
    const fault = `${fields} are not unfolded: they are nested more than ${MAX_DEPTH_LEVELS} deep.`;
    return { kind: 'exhausted', fault };
  }
  if (pointer !== undefined)
    shared.unfolded.set(pointer, { id: field.id, label: field.name || getPointerName(pointer) });
  return undefined;
}

function getJsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function listDeclaredTypes(document: ResolvedDocument, part: JsonObject, depth: number): string[] {
  const { type, format } = part;
  const types = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string');
  return types.map((name) => {
    if (name === 'array') return formatArrayType(document, part, depth);
    if (name === 'null' || types.length > 1 || typeof format !== 'string') return name;
    return `${name} (${format})`;
  });
}

function formatArrayType(document: ResolvedDocument, part: JsonObject, depth: number): string {
  const items = listTypes(document, part.items, depth + 1);
  return items.includes('any') ? 'array' : `array of ${items.join(' or ')}`;
}

/** Lists the types of a schema that declares none, from its other members. */
function listImpliedTypes(document: ResolvedDocument, part: JsonObject, depth: number): string[] {
  if (isJsonObject(part.properties) || isJsonObject(part.additionalProperties)) return ['object'];
  if ('items' in part) return [formatArrayType(document, part, depth)];
  if (Array.isArray(part.enum) && part.enum.length > 0) return part.enum.map(getJsonType);
  if ('const' in part) return [getJsonType(part.const)];
  return [];
}

function listTypes(document: ResolvedDocument, schema: unknown, depth: number): string[] {
  if (depth > MAX_TYPE_DEPTH_LEVELS) return ['any'];
  const { parts, variantLists } = document.merge(schema);
  // In this order, and each only when those before it find nothing: types of variants take long to find.
  const sources = [
    () => parts.flatMap((part) => listDeclaredTypes(document, part, depth)),
    () =>
      variantLists
        .flatMap(({ schemas }) => schemas)
        .flatMap((variant) => listTypes(document, variant, depth + 1)),
    () => parts.flatMap((part) => listImpliedTypes(document, part, depth)),
  ];
  for (const listFrom of sources) {
    const types = [...new Set(listFrom())];
    if (types.length > 0) return types.length > 1 && types.includes('any') ? ['any'] : types;
  }
  return ['any'];
}

/** Formats the type of a schema in words: `string (date-time)`, `array of object`, `string or number`. */
function formatSchemaType(document: ResolvedDocument, schema: unknown): string {
  return listTypes(document, schema, 0).join(' or ');
}
