import { isDict, memberOf, printShort } from './json.ts';
import { partsOf } from './parts.ts';
import { pairsOf, plain } from './written.ts';

/** One field of a form; a `file` has its content in place of a text. */
export type FormField = { name: string; kind: 'text' | 'json' | 'file'; text: string };

export function isUrlEncoded(mediaType: string): boolean {
  return /^application\/x-www-form-urlencoded/i.test(mediaType);
}

export function isMultipart(mediaType: string): boolean {
  return /^multipart\//i.test(mediaType);
}

/** The fields of a form that has this value, written as the media type and its `encoding` say. */
export function formFieldsOf(
  document: unknown,
  mediaType: string,
  media: unknown,
  value: unknown,
): FormField[] {
  if (!isDict(value)) return [];
  const { parts } = partsOf(document, memberOf(media, 'schema'));
  return Object.entries(value).flatMap(([name, member]): FormField[] => {
    const encoding = memberOf(memberOf(media, 'encoding'), name);
    const style = memberOf(encoding, 'style');
    if (isUrlEncoded(mediaType)) {
      if (isDict(member) && typeof style !== 'string')
        return [{ name, kind: 'text', text: printShort(member) }];
      const chosen = typeof style === 'string' ? style : 'form';
      const explode = memberOf(encoding, 'explode') ?? chosen === 'form';
      return pairsOf(name, member, { style: chosen, explode: explode === true })
        .map(plain)
        .map((pair) => ({ name: pair.name, kind: 'text', text: pair.value }));
    }
    const schema = { allOf: parts.flatMap(({ properties }) => memberOf(properties, name) ?? []) };
    const items = Array.isArray(member) ? member : [member];
    if (isFile(document, schema)) return items.map(() => ({ name, kind: 'file', text: '' }));
    return items.map((item) =>
      typeof item === 'object' && item !== null
        ? { name, kind: 'json', text: printShort(item) }
        : { name, kind: 'text', text: typeof item === 'string' ? item : printShort(item) },
    );
  });
}

/** Whether a field, or every item of it, is bytes. */
function isFile(document: unknown, schema: unknown): boolean {
  const { parts } = partsOf(document, schema);
  return parts.some(
    ({ format, items }) => format === 'binary' || (items !== undefined && isBinary(document, items)),
  );
}

function isBinary(document: unknown, schema: unknown): boolean {
  return partsOf(document, schema).parts.some(({ format }) => format === 'binary');
}
