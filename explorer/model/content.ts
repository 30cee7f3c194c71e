import { addRest } from './facts.ts';
import { anchorFor, type Block, emptyField, type Field, type Shared } from './field.ts';
import { type FormField, formFieldsOf, isMultipart, isUrlEncoded } from './form-fields.ts';
import { isDict, membersOf, print } from './json.ts';
import { follow } from './reference.ts';
import { readSchema } from './schema.ts';
import { type Direction, sketch } from './sketch.ts';

/** A body as one example: given by the document, or `made` from the schema. */
export type Example = {
  title: string;
  description: string;
  language: 'json' | 'text';
  text: string;
  made: boolean;
};

/** A body in one media type. */
export type Content = {
  mediaType: string;
  field: Field;
  examples: Example[];
  blocks: Block[];
  /** The value of the first example, for the samples of code. */
  value: unknown;
  /** That value as the fields of a form, when the body is one. */
  form?: FormField[];
};

export function isJsonType(mediaType: string): boolean {
  return /^[^;]*[/+]json\s*(;|$)/i.test(mediaType) || mediaType === '*/*';
}

/** Reads the `content` of a body; `id` is the anchor of the first media type, later ones add their name to it. */
export function readContents(shared: Shared, contents: unknown, id: string, direction: Direction): Content[] {
  if (!isDict(contents)) return [];
  return Object.entries(contents).map(([mediaType, media], index) =>
    readContent(shared, mediaType, media, { id: index === 0 ? id : `${id}.${mediaType}`, direction }),
  );
}

function readContent(
  shared: Shared,
  mediaType: string,
  media: unknown,
  { id, direction }: { id: string; direction: Direction },
): Content {
  const { document } = shared;
  const { value: followed, fault } = follow(document, media);
  const field = emptyField(anchorFor(shared, id), '');
  if (fault !== undefined) field.faults.push(fault);
  if (!isDict(followed)) {
    const blocks = followed === undefined ? [] : [{ title: 'Also in the document', text: print(followed) }];
    return { mediaType, field, examples: [], blocks, value: undefined };
  }
  const from = membersOf(followed);
  const schema = from.any('schema');
  if (from.has('schema')) readSchema(shared, schema, field);
  const blocks: Block[] = [];
  const examples = from.has('example')
    ? [{ title: '', description: '', value: from.any('example') }]
    : readExamples(document, from.dict('examples') ?? {}, blocks);
  addRest(from.rest(), blocks);
  const given = examples.map(({ value, ...example }) => ({ ...example, ...textOf(value), made: false }));
  const first = examples[0];
  const made = first ? first.value : from.has('schema') ? sketch(document, schema, direction) : undefined;
  if (isJsonType(mediaType) && made !== undefined && !first) {
    return {
      mediaType,
      field,
      examples: [{ title: '', description: '', ...textOf(made), made: true }],
      blocks,
      value: made,
    };
  }
  const isForm = isUrlEncoded(mediaType) || isMultipart(mediaType);
  const form = isForm ? { form: formFieldsOf(document, mediaType, followed, made) } : {};
  return { mediaType, field, examples: given, blocks, value: made, ...form };
}

function textOf(value: unknown): { language: 'json' | 'text'; text: string } {
  if (typeof value === 'string') return { language: 'text', text: value };
  return { language: 'json', text: print(value) };
}

type Given = { title: string; description: string; value: unknown };

function readExamples(document: unknown, examples: object, blocks: Block[]): Given[] {
  return Object.entries(examples).flatMap(([name, example]) => {
    const { value: followed, fault } = follow(document, example);
    const from = membersOf(isDict(followed) ? followed : {});
    const title = from.text('summary') ?? name;
    const description = from.text('description') ?? '';
    if (isDict(followed) && from.has('value')) {
      const value = from.any('value');
      addRest(from.rest(), blocks);
      return [{ title, description, value }];
    }
    blocks.push({ title: `Example ${name}`, text: fault ?? print(followed) });
    return [];
  });
}
