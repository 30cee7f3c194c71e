import { getPointerName } from '../document/dereference.ts';
import {
  createMemberReader,
  formatCompactJson,
  formatJson,
  getOwnMember,
  isJsonObject,
  type JsonObject,
  type MemberReader,
} from '../document/json.ts';
import type { MergedSchema, ResolvedDocument } from '../document/resolved-document.ts';
import { collapse, readChildFields, readStructure } from './child-fields.ts';
import type { Fact, Field, RawBlock, ReadContext } from './field.ts';

/** The fields of schemas nested deeper than this are not unfolded. */
const MAX_DEPTH_LEVELS = 24;

/** Arrays of arrays and choices of choices nested deeper than this are "any", because a recursive type has no end. */
const MAX_TYPE_DEPTH_LEVELS = 5;

/** Values longer than this are shown in a block. */
const MAX_INLINE_CHARACTERS = 80;

/** Common patterns that readers understand better in words: text that a database can store, and names. */
const PATTERNS_IN_WORDS = new Map([
  ['^[^\\u0000]*$', 'no NUL character'],
  [
    '^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]*$',
    'one line, without control characters and bidirectional marks',
  ],
]);

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

/** The facts and blocks of a field, to which readers add. */
type FactLists = Pick<Field, 'facts' | 'blocks'>;

/** Adds a value as a fact, or as a block when it is long or has several lines. */
export function addValue(label: string, value: unknown, { facts, blocks }: FactLists): void {
  const compact = formatCompactJson(value);
  const hasLines = typeof value === 'string' && value.includes('\n');
  if (compact.length <= MAX_INLINE_CHARACTERS && !hasLines) facts.push({ label, codes: [compact] });
  else blocks.push({ title: label, text: typeof value === 'string' ? value : formatJson(value) });
}

/** Formats a range with its unit, `character` for example; an empty unit is left out. */
function formatRange(least: number | undefined, most: number | undefined, unit = ''): string[] {
  const count = (n: number) => (unit === '' ? `${n}` : `${n} ${unit}${n === 1 ? '' : 's'}`);
  if (least !== undefined && most !== undefined)
    return [least === most ? `exactly ${count(least)}` : `${least} to ${count(most)}`];
  if (least !== undefined) return [`at least ${count(least)}`];
  return most === undefined ? [] : [`at most ${count(most)}`];
}

/** Reads the limits of a number. `exclusiveMinimum` is a flag in OpenAPI 3.0 and a limit of its own in 3.1. */
function readNumberLimits(from: MemberReader): string[] {
  const above = from.number('exclusiveMinimum');
  const below = from.number('exclusiveMaximum');
  const isLeastExcluded = from.flag('exclusiveMinimum');
  const isMostExcluded = from.flag('exclusiveMaximum');
  const least = from.number('minimum');
  const most = from.number('maximum');
  return [
    ...formatRange(isLeastExcluded ? undefined : least, isMostExcluded ? undefined : most),
    ...(isLeastExcluded && least !== undefined ? [`more than ${least}`] : []),
    ...(isMostExcluded && most !== undefined ? [`less than ${most}`] : []),
    ...(above === undefined ? [] : [`more than ${above}`]),
    ...(below === undefined ? [] : [`less than ${below}`]),
  ];
}

function readLimits(from: MemberReader): string[] {
  const factor = from.number('multipleOf');
  return [
    ...readNumberLimits(from),
    ...(factor === undefined ? [] : [`a multiple of ${factor}`]),
    ...formatRange(from.number('minLength'), from.number('maxLength'), 'character'),
    ...formatRange(from.number('minItems'), from.number('maxItems'), 'item'),
    ...formatRange(from.number('minProperties'), from.number('maxProperties'), 'field'),
    ...(from.flag('uniqueItems') ? ['no item twice'] : []),
  ];
}

/** Reads the property that names the variant of a value, and its values. */
function readDiscriminator(value: JsonObject): string[] {
  const property = getOwnMember(value, 'propertyName');
  const mapping = getOwnMember(value, 'mapping');
  const values = Object.entries(isJsonObject(mapping) ? mapping : {}).map(
    ([name, target]) =>
      `${name} → ${typeof target === 'string' ? target.replace(/^.*\//, '') : formatCompactJson(target)}`,
  );
  return typeof property === 'string' ? [property, ...values] : [];
}

/** Reads a link to further documentation. Returns undefined unless it is complete and leads to the web. */
export function readExternalDocs(value: JsonObject | undefined): Fact | undefined {
  const from = createMemberReader(value ?? {});
  const url = from.text('url');
  const description = from.text('description');
  if (url === undefined || from.unread() || !/^https?:\/\//i.test(url)) return undefined;
  return { label: 'More', text: description ?? url, href: url };
}

/**
 * Reads the statements of one schema beside its type and its fields. Every member that is still unread becomes a block of
 * JSON, so call this after all other readers of the schema.
 */
function readFacts(from: MemberReader, field: FactLists): void {
  const { facts, blocks } = field;
  const values = from.list('enum');
  if (values)
    facts.push({ label: values.length === 1 ? 'Always' : 'One of', codes: values.map(formatCompactJson) });
  if (from.has('const')) facts.push({ label: 'Always', codes: [formatCompactJson(from.any('const'))] });
  const limits = readLimits(from);
  const pattern = from.text('pattern');
  const words = PATTERNS_IN_WORDS.get(pattern ?? '');
  if (words !== undefined) limits.push(words);
  if (limits.length > 0) facts.push({ label: 'Limits', text: limits.join(', ') });
  if (pattern !== undefined && words === undefined) facts.push({ label: 'Pattern', codes: [pattern] });
  if (from.has('default')) addValue('Default', from.any('default'), field);
  if (from.has('example')) addValue('Example', from.any('example'), field);
  for (const example of from.list('examples') ?? []) addValue('Example', example, field);
  const discriminator = from.object('discriminator');
  const codes = readDiscriminator(discriminator ?? {});
  if (codes.length > 0) facts.push({ label: 'Discriminator', codes });
  else if (discriminator) addUnread({ discriminator }, blocks);
  const docs = from.object('externalDocs');
  const link = readExternalDocs(docs);
  if (link) facts.push(link);
  else if (docs) blocks.push({ title: 'More', text: formatJson(docs) });
  addUnread(from.unread(), blocks);
}

/** Adds the members that were not understood as a block of JSON. */
export function addUnread(members: JsonObject | undefined, blocks: RawBlock[]): void {
  if (members) blocks.push({ title: 'Also in the document', text: formatJson(members) });
}
