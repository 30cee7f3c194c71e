import { createMemberReader, formatJson, isJsonObject, type JsonObject } from '../document/json.ts';
import type { ResolvedDocument } from '../document/resolved-document.ts';
import { addUnread } from '../schema/facts.ts';
import { createField, type Field, type RawBlock, type ReadContext, reserveAnchor } from '../schema/field.ts';
import { readSchema } from '../schema/read-schema.ts';
import { buildExampleValue, type Direction } from '../values/example-value.ts';
import { buildFormFields, type FormField, isMultipart, isUrlEncoded } from '../values/form-fields.ts';

/** An example of a body: part of the document, or generated from the schema. */
export type Example = {
  title: string;
  description: string;
  language: 'json' | 'text';
  text: string;
  isGenerated: boolean;
};

/** A body in one media type. */
export type Content = {
  mediaType: string;
  field: Field;
  examples: Example[];
  blocks: RawBlock[];
  /** The value of the first example, for the code samples. */
  value: unknown;
  /** That value as the fields of a form, when the body is one. */
  form?: FormField[];
};

type DocumentExample = { title: string; description: string; value: unknown };

export function isJsonMediaType(mediaType: string): boolean {
  return /^[^;]*[/+]json\s*(;|$)/i.test(mediaType) || mediaType === '*/*';
}

/** Reads the `content` of a body. `id` is the anchor of the first media type; later ones add their name to it. */
export function readContents(
  shared: ReadContext,
  contents: unknown,
  { id, direction }: { id: string; direction: Direction },
): Content[] {
  if (!isJsonObject(contents)) return [];
  return Object.entries(contents).map(([mediaType, media], index) => {
    const field = createField(reserveAnchor(shared, index === 0 ? id : `${id}.${mediaType}`), '');
    return readContent(shared, field, { mediaType, media, direction });
  });
}

function readContent(
  shared: ReadContext,
  field: Field,
  { mediaType, media, direction }: { mediaType: string; media: unknown; direction: Direction },
): Content {
  const { document } = shared;
  const { value: resolved, fault } = document.resolve(media);
  if (fault !== undefined) field.faults.push(fault);
  const blocks: RawBlock[] = [];
  if (!isJsonObject(resolved)) {
    if (resolved !== undefined) addUnreadValue(resolved, blocks);
    return { mediaType, field, examples: [], blocks, value: undefined };
  }
  const from = createMemberReader(resolved);
  const schema = from.any('schema');
  if (from.has('schema')) readSchema(shared, schema, field);
  const documented = from.has('example')
    ? [{ title: '', description: '', value: from.any('example') }]
    : readExamples(document, from.object('examples') ?? {}, blocks);
  addUnread(from.unread(), blocks);
  const [first] = documented;
  const generated = !first && from.has('schema') ? buildExampleValue(document, schema, direction) : undefined;
  const value = first ? first.value : generated;
  const isForm = isUrlEncoded(mediaType) || isMultipart(mediaType);
  return {
    mediaType,
    field,
    examples:
      isJsonMediaType(mediaType) && generated !== undefined
        ? [formatExample({ title: '', description: '', value: generated }, true)]
        : documented.map((example) => formatExample(example, false)),
    blocks,
    value,
    ...(isForm && { form: buildFormFields(document, { mediaType, media: resolved, value }) }),
  };
}

function addUnreadValue(value: unknown, blocks: RawBlock[]): void {
  blocks.push({ title: 'Also in the document', text: formatJson(value) });
}

function formatExample({ title, description, value }: DocumentExample, isGenerated: boolean): Example {
  const isText = typeof value === 'string';
  const text = isText ? value : formatJson(value);
  return { title, description, language: isText ? 'text' : 'json', text, isGenerated };
}

function readExamples(
  document: ResolvedDocument,
  examples: JsonObject,
  blocks: RawBlock[],
): DocumentExample[] {
  return Object.entries(examples).flatMap(([name, example]) => {
    const { value: resolved, fault } = document.resolve(example);
    const from = createMemberReader(isJsonObject(resolved) ? resolved : {});
    const title = from.text('summary') ?? name;
    const description = from.text('description') ?? '';
    if (isJsonObject(resolved) && from.has('value')) {
      const value = from.any('value');
      addUnread(from.unread(), blocks);
      return [{ title, description, value }];
    }
    blocks.push({ title: `Example ${name}`, text: fault ?? formatJson(resolved) });
    return [];
  });
}
