import { dereference } from '../document/dereference.ts';
import { createMemberReader, formatJson, isJsonObject } from '../document/json.ts';
import { addUnread } from '../schema/facts.ts';
import { createField, type Field, type RawBlock, type ReadContext, reserveAnchor } from '../schema/field.ts';
import { readSchema } from '../schema/read-schema.ts';
import { buildExampleValue, type Direction } from '../values/example-value.ts';
import { buildFormFields, type FormField, isMultipart, isUrlEncoded } from '../values/form-fields.ts';

/** A body as one example: given by the document, or `made` from the schema. */
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
  /** The value of the first example, for the samples of code. */
  value: unknown;
  /** That value as the fields of a form, when the body is one. */
  form?: FormField[];
};

export function isJsonMediaType(mediaType: string): boolean {
  return /^[^;]*[/+]json\s*(;|$)/i.test(mediaType) || mediaType === '*/*';
}

/** Reads the `content` of a body; `id` is the anchor of the first media type, later ones add their name to it. */
export function readContents(
  shared: ReadContext,
  contents: unknown,
  id: string,
  direction: Direction,
): Content[] {
  if (!isJsonObject(contents)) return [];
  return Object.entries(contents).map(([mediaType, media], index) =>
    readContent(shared, mediaType, media, { id: index === 0 ? id : `${id}.${mediaType}`, direction }),
  );
}

function readContent(
  shared: ReadContext,
  mediaType: string,
  media: unknown,
  { id, direction }: { id: string; direction: Direction },
): Content {
  const { document } = shared;
  const { value: followed, fault } = dereference(document, media);
  const field = createField(reserveAnchor(shared, id), '');
  if (fault !== undefined) field.faults.push(fault);
  if (!isJsonObject(followed)) {
    const blocks =
      followed === undefined ? [] : [{ title: 'Also in the document', text: formatJson(followed) }];
    return { mediaType, field, examples: [], blocks, value: undefined };
  }
  const from = createMemberReader(followed);
  const schema = from.any('schema');
  if (from.has('schema')) readSchema(shared, schema, field);
  const blocks: RawBlock[] = [];
  const examples = from.has('example')
    ? [{ title: '', description: '', value: from.any('example') }]
    : readExamples(document, from.object('examples') ?? {}, blocks);
  addUnread(from.unread(), blocks);
  const given = examples.map(({ value, ...example }) => ({
    ...example,
    ...textOf(value),
    isGenerated: false,
  }));
  const first = examples[0];
  const made = first
    ? first.value
    : from.has('schema')
      ? buildExampleValue(document, schema, direction)
      : undefined;
  if (isJsonMediaType(mediaType) && made !== undefined && !first) {
    return {
      mediaType,
      field,
      examples: [{ title: '', description: '', ...textOf(made), isGenerated: true }],
      blocks,
      value: made,
    };
  }
  const isForm = isUrlEncoded(mediaType) || isMultipart(mediaType);
  const form = isForm ? { form: buildFormFields(document, mediaType, followed, made) } : {};
  return { mediaType, field, examples: given, blocks, value: made, ...form };
}

function textOf(value: unknown): { language: 'json' | 'text'; text: string } {
  if (typeof value === 'string') return { language: 'text', text: value };
  return { language: 'json', text: formatJson(value) };
}

type Given = { title: string; description: string; value: unknown };

function readExamples(document: unknown, examples: object, blocks: RawBlock[]): Given[] {
  return Object.entries(examples).flatMap(([name, example]) => {
    const { value: followed, fault } = dereference(document, example);
    const from = createMemberReader(isJsonObject(followed) ? followed : {});
    const title = from.text('summary') ?? name;
    const description = from.text('description') ?? '';
    if (isJsonObject(followed) && from.has('value')) {
      const value = from.any('value');
      addUnread(from.unread(), blocks);
      return [{ title, description, value }];
    }
    blocks.push({ title: `Example ${name}`, text: fault ?? formatJson(followed) });
    return [];
  });
}
