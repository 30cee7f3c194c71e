import {
  createMemberReader,
  formatCompactJson,
  formatJson,
  getOwnMember,
  isJsonObject,
  type JsonObject,
  type MemberReader,
} from '../document/json.ts';
import type { Fact, RawBlock } from './field.ts';

/** Values longer than this stand in a block of their own. */
const longestCode = 80;

/** A value as a short fact, or as a block when it is long or has several lines. */
export function addValue(label: string, value: unknown, facts: Fact[], blocks: RawBlock[]): void {
  const short = formatCompactJson(value);
  const hasLines = typeof value === 'string' && value.includes('\n');
  if (short.length <= longestCode && !hasLines) facts.push({ label, codes: [short] });
  else blocks.push({ title: label, text: typeof value === 'string' ? value : formatJson(value) });
}

function range(least: number | undefined, most: number | undefined, one: string, many: string): string[] {
  const unit = (count: number) => (many === '' ? '' : ` ${count === 1 ? one : many}`);
  if (least !== undefined && most !== undefined) {
    return [least === most ? `exactly ${least}${unit(least)}` : `${least} to ${most}${unit(most)}`];
  }
  if (least !== undefined) return [`at least ${least}${unit(least)}`];
  return most === undefined ? [] : [`at most ${most}${unit(most)}`];
}

/** The bounds of a number; in OpenAPI 3.0 `exclusiveMinimum` says how to read `minimum`, later it is a bound itself. */
function bounds(from: MemberReader): string[] {
  const above = from.number('exclusiveMinimum');
  const below = from.number('exclusiveMaximum');
  const notLeast = from.flag('exclusiveMinimum');
  const notMost = from.flag('exclusiveMaximum');
  const least = from.number('minimum');
  const most = from.number('maximum');
  return [
    ...range(notLeast ? undefined : least, notMost ? undefined : most, '', ''),
    ...(notLeast && least !== undefined ? [`more than ${least}`] : []),
    ...(notMost && most !== undefined ? [`less than ${most}`] : []),
    ...(above === undefined ? [] : [`more than ${above}`]),
    ...(below === undefined ? [] : [`less than ${below}`]),
  ];
}

function limits(from: MemberReader): string[] {
  const factor = from.number('multipleOf');
  return [
    ...bounds(from),
    ...(factor === undefined ? [] : [`a multiple of ${factor}`]),
    ...range(from.number('minLength'), from.number('maxLength'), 'character', 'characters'),
    ...range(from.number('minItems'), from.number('maxItems'), 'item', 'items'),
    ...range(from.number('minProperties'), from.number('maxProperties'), 'field', 'fields'),
    ...(from.flag('uniqueItems') ? ['no item twice'] : []),
  ];
}

/** The one pattern that is sooner understood in words: what databases keep as text. */
const ANY_BUT_NUL = '^[^\\u0000]*$';

/** Which value of a field picks which variant. */
function discriminator(value: JsonObject): { codes: string[] } | undefined {
  const property = getOwnMember(value, 'propertyName');
  if (typeof property !== 'string') return undefined;
  const mapping = getOwnMember(value, 'mapping');
  const codes = Object.entries(isJsonObject(mapping) ? mapping : {}).map(
    ([name, target]) =>
      `${name} → ${typeof target === 'string' ? target.replace(/^.*\//, '') : formatCompactJson(target)}`,
  );
  return { codes: [property, ...codes] };
}

/** A link to more documentation, when it is one that is safe to follow. */
export function readExternalDocs(value: JsonObject | undefined): Fact | undefined {
  const from = createMemberReader(value ?? {});
  const url = from.text('url');
  const description = from.text('description');
  if (value === undefined || url === undefined || from.unread() || !/^https?:\/\//i.test(url))
    return undefined;
  return { label: 'More', text: description ?? url, href: url };
}

/**
 * What one schema says of its values beside its type and its fields. Whatever is not understood becomes a block of
 * JSON, so this is called last: `from` must have been asked for everything that is shown elsewhere.
 */
export function readFacts(from: MemberReader, facts: Fact[], blocks: RawBlock[]): void {
  const values = from.list('enum');
  if (values)
    facts.push({ label: values.length === 1 ? 'Always' : 'One of', codes: values.map(formatCompactJson) });
  if (from.has('const')) facts.push({ label: 'Always', codes: [formatCompactJson(from.any('const'))] });
  const said = limits(from);
  const pattern = from.text('pattern');
  if (pattern === ANY_BUT_NUL) said.push('no NUL character');
  if (said.length > 0) facts.push({ label: 'Limits', text: said.join(', ') });
  if (pattern !== undefined && pattern !== ANY_BUT_NUL) facts.push({ label: 'Pattern', codes: [pattern] });
  if (from.has('default')) addValue('Default', from.any('default'), facts, blocks);
  if (from.has('example')) addValue('Example', from.any('example'), facts, blocks);
  for (const example of from.list('examples') ?? []) addValue('Example', example, facts, blocks);
  if (getOwnMember(from.object('discriminator'), 'propertyName') !== undefined) {
    const told = discriminator(from.object('discriminator') ?? {});
    if (told) facts.push({ label: 'Told apart by', codes: told.codes });
  }
  addExternalDocs(from, facts, blocks);
  addUnread(from.unread(), blocks);
}

function addExternalDocs(from: MemberReader, facts: Fact[], blocks: RawBlock[]): void {
  const docs = from.object('externalDocs');
  const fact = readExternalDocs(docs);
  if (fact) facts.push(fact);
  else if (docs) blocks.push({ title: 'More', text: formatJson(docs) });
}

/** What was not understood, as the document has it. */
export function addUnread(rest: JsonObject | undefined, blocks: RawBlock[]): void {
  if (rest) blocks.push({ title: 'Also in the document', text: formatJson(rest) });
}
