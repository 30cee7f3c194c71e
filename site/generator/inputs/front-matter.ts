import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import type { Problem } from './problems.ts';

type FieldType = 'text' | 'number' | 'url';
type Field = { type: FieldType; required: boolean; minimum?: number; maximum?: number };

/** The fields of one kind of front matter. `minimum` and `maximum` are lengths in characters. */
export type FrontMatterSchema = Record<string, Field>;

export const docsSchema = {
  title: { type: 'text', required: true, minimum: 3, maximum: 60 },
  intro: { type: 'text', required: true, minimum: 20, maximum: 240 },
  navOrder: { type: 'number', required: true },
  version: { type: 'text', required: false, minimum: 1, maximum: 16 },
  keywords: { type: 'text', required: false, minimum: 3, maximum: 240 },
} satisfies FrontMatterSchema;

/** A page file that is only a link out of the site, such as a blog: it has an entry in the navigation and no body. */
export const externalSchema = {
  label: { type: 'text', required: true, minimum: 2, maximum: 32 },
  navOrder: { type: 'number', required: true },
  externalUrl: { type: 'url', required: true },
} satisfies FrontMatterSchema;

export const plainSchema = {
  title: { type: 'text', required: true, minimum: 3, maximum: 60 },
  intro: { type: 'text', required: true, minimum: 20, maximum: 240 },
} satisfies FrontMatterSchema;

export const folderSchema = {
  label: { type: 'text', required: true, minimum: 2, maximum: 32 },
  navOrder: { type: 'number', required: true },
} satisfies FrontMatterSchema;

type Value<F extends Field> = F['type'] extends 'number' ? number : string;
export type FrontMatter<S extends FrontMatterSchema> = {
  [K in keyof S as S[K]['required'] extends true ? K : never]: Value<S[K]>;
} & { [K in keyof S as S[K]['required'] extends true ? never : K]?: Value<S[K]> };

/** Returns the fault of a value as the end of a sentence; undefined for a valid value. */
function findFault(value: unknown, field: Field): string | undefined {
  if (field.type === 'number') {
    return Number.isInteger(value) ? undefined : 'must be a whole number';
  }
  if (typeof value !== 'string') return 'must be text';
  if (field.type === 'url' && !URL.canParse(value))
    return 'must be a full address such as https://example.org/blog';
  const { minimum = 0, maximum = Number.POSITIVE_INFINITY } = field;
  if (value.length < minimum || value.length > maximum) {
    return `must have ${minimum} to ${maximum} characters and has ${value.length}`;
  }
  return undefined;
}

/**
 * Reads YAML and checks it against a schema. Adds every mistake to `problems` with its line in the file, and then
 * returns undefined. `firstLine` is the line of the file on which the YAML starts.
 */
export function readFrontMatter<S extends FrontMatterSchema>(
  yaml: string,
  schema: S,
  at: { file: string; firstLine: number },
  problems: Problem[],
): FrontMatter<S> | undefined {
  if (yaml.trim() === '') {
    const fields = Object.keys(schema).join(', ');
    const message = `The file has no front matter between two lines of "---"; its fields are ${fields}.`;
    problems.push({ file: at.file, line: 1, message });
    return undefined;
  }
  const lineCounter = new LineCounter();
  const document = parseDocument(yaml, { lineCounter });
  const before = problems.length;
  const report = (offset: number, message: string) => {
    const line = at.firstLine + Math.max(1, lineCounter.linePos(offset).line) - 1;
    problems.push({ file: at.file, line, message });
  };
  for (const error of document.errors)
    report(
      error.pos[0],
      `The front matter is not valid YAML: ${error.message.replace(/ at line \d[\s\S]*/, '')}.`,
    );
  if (problems.length > before) return undefined;

  if (document.contents !== null && !isMap(document.contents)) {
    report(0, 'The front matter is not a list of names with values, such as "title: Pagination".');
    return undefined;
  }
  const values: Record<string, unknown> = {};
  const known = Object.keys(schema).join(', ');
  const items = isMap(document.contents) ? document.contents.items : [];
  for (const { key, value } of items) {
    if (!isScalar(key)) continue;
    const name = String(key.value);
    const offset = key.range?.[0] ?? 0;
    const field = schema[name];
    if (field === undefined) {
      report(offset, `The front matter has "${name}", which is not a field of it; the fields are ${known}.`);
      continue;
    }
    const found = isScalar(value) ? value.value : undefined;
    const wrong = findFault(found, field);
    if (wrong !== undefined)
      report(offset, `The front matter field "${name}" ${wrong}; it is ${JSON.stringify(found)}.`);
    values[name] = found;
  }
  for (const [name, field] of Object.entries(schema)) {
    if (field.required && !(name in values)) {
      report(0, `The front matter lacks "${name}"; the fields are ${known}.`);
    }
  }
  return problems.length > before ? undefined : (values as FrontMatter<S>);
}
