import {
  createMemberReader,
  formatCompactJson,
  formatJson,
  getOwnMember,
  isJsonObject,
  type JsonObject,
  type MemberReader,
} from '../document/json.ts';
import type { Fact, Field, RawBlock } from './field.ts';

/** The facts and blocks of a field, to which readers add. */
type FactLists = Pick<Field, 'facts' | 'blocks'>;

/** Values longer than this are shown in a block. */
const MAX_INLINE_CHARACTERS = 80;

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

/** Common patterns that readers understand better in words: text that a database can store, and names. */
const PATTERNS_IN_WORDS = new Map([
  ['^[^\\u0000]*$', 'no NUL character'],
  [
    '^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]*$',
    'one line, without control characters and bidirectional marks',
  ],
]);

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
export function readFacts(from: MemberReader, field: FactLists): void {
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
