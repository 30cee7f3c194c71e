import type { Block, Fact } from './field.ts';
import { type Dict, isDict, type Members, memberOf, membersOf, print, printShort } from './json.ts';

/** Values longer than this stand in a block of their own. */
const longestCode = 80;

/** A value as a short fact, or as a block when it is long or has several lines. */
export function addValue(label: string, value: unknown, facts: Fact[], blocks: Block[]): void {
  const short = printShort(value);
  const hasLines = typeof value === 'string' && value.includes('\n');
  if (short.length <= longestCode && !hasLines) facts.push({ label, codes: [short] });
  else blocks.push({ title: label, text: typeof value === 'string' ? value : print(value) });
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
function bounds(from: Members): string[] {
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

function limits(from: Members): string[] {
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
function discriminator(value: Dict): { codes: string[] } | undefined {
  const property = memberOf(value, 'propertyName');
  if (typeof property !== 'string') return undefined;
  const mapping = memberOf(value, 'mapping');
  const codes = Object.entries(isDict(mapping) ? mapping : {}).map(
    ([name, target]) =>
      `${name} → ${typeof target === 'string' ? target.replace(/^.*\//, '') : printShort(target)}`,
  );
  return { codes: [property, ...codes] };
}

/** A link to more documentation, when it is one that is safe to follow. */
export function externalDocs(value: Dict | undefined): Fact | undefined {
  const from = membersOf(value ?? {});
  const url = from.text('url');
  const description = from.text('description');
  if (value === undefined || url === undefined || from.rest() || !/^https?:\/\//i.test(url)) return undefined;
  return { label: 'More', text: description ?? url, href: url };
}

/**
 * What one schema says of its values beside its type and its fields. Whatever is not understood becomes a block of
 * JSON, so this is called last: `from` must have been asked for everything that is shown elsewhere.
 */
export function readFacts(from: Members, facts: Fact[], blocks: Block[]): void {
  const values = from.list('enum');
  if (values) facts.push({ label: values.length === 1 ? 'Always' : 'One of', codes: values.map(printShort) });
  if (from.has('const')) facts.push({ label: 'Always', codes: [printShort(from.any('const'))] });
  const said = limits(from);
  const pattern = from.text('pattern');
  if (pattern === ANY_BUT_NUL) said.push('no NUL character');
  if (said.length > 0) facts.push({ label: 'Limits', text: said.join(', ') });
  if (pattern !== undefined && pattern !== ANY_BUT_NUL) facts.push({ label: 'Pattern', codes: [pattern] });
  if (from.has('default')) addValue('Default', from.any('default'), facts, blocks);
  if (from.has('example')) addValue('Example', from.any('example'), facts, blocks);
  for (const example of from.list('examples') ?? []) addValue('Example', example, facts, blocks);
  if (memberOf(from.dict('discriminator'), 'propertyName') !== undefined) {
    const told = discriminator(from.dict('discriminator') ?? {});
    if (told) facts.push({ label: 'Told apart by', codes: told.codes });
  }
  addExternalDocs(from, facts, blocks);
  addRest(from.rest(), blocks);
}

function addExternalDocs(from: Members, facts: Fact[], blocks: Block[]): void {
  const docs = from.dict('externalDocs');
  const fact = externalDocs(docs);
  if (fact) facts.push(fact);
  else if (docs) blocks.push({ title: 'More', text: print(docs) });
}

/** What was not understood, as the document has it. */
export function addRest(rest: Dict | undefined, blocks: Block[]): void {
  if (rest) blocks.push({ title: 'Also in the document', text: print(rest) });
}
