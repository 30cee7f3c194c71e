import { flattenAllOf } from '../document/flatten-all-of.ts';
import { formatCompactJson, getOwnMember, isJsonObject } from '../document/json.ts';
import { formatPair, serializeToPairs } from './serialize-value.ts';

/** One field of a form; a `file` has its content in place of a text. */
export type FormField = { name: string; kind: 'text' | 'json' | 'file'; text: string };

export function isUrlEncoded(mediaType: string): boolean {
  return /^application\/x-www-form-urlencoded/i.test(mediaType);
}

export function isMultipart(mediaType: string): boolean {
  return /^multipart\//i.test(mediaType);
}

/** The fields of a form that has this value, written as the media type and its `encoding` say. */
export function buildFormFields(
  document: unknown,
  mediaType: string,
  media: unknown,
  value: unknown,
): FormField[] {
  if (!isJsonObject(value)) return [];
  const { parts } = flattenAllOf(document, getOwnMember(media, 'schema'));
  return Object.entries(value).flatMap(([name, member]): FormField[] => {
    const encoding = getOwnMember(getOwnMember(media, 'encoding'), name);
    const style = getOwnMember(encoding, 'style');
    if (isUrlEncoded(mediaType)) {
      if (isJsonObject(member) && typeof style !== 'string')
        return [{ name, kind: 'text', text: formatCompactJson(member) }];
      const chosen = typeof style === 'string' ? style : 'form';
      const explode = getOwnMember(encoding, 'explode') ?? chosen === 'form';
      return serializeToPairs(name, member, { style: chosen, explode: explode === true })
        .map(formatPair)
        .map((pair) => ({ name: pair.name, kind: 'text', text: pair.value }));
    }
    const schema = { allOf: parts.flatMap(({ properties }) => getOwnMember(properties, name) ?? []) };
    const items = Array.isArray(member) ? member : [member];
    if (isFile(document, schema)) return items.map(() => ({ name, kind: 'file', text: '' }));
    return items.map((item) =>
      typeof item === 'object' && item !== null
        ? { name, kind: 'json', text: formatCompactJson(item) }
        : { name, kind: 'text', text: typeof item === 'string' ? item : formatCompactJson(item) },
    );
  });
}

/** Whether a field, or every item of it, is bytes. */
function isFile(document: unknown, schema: unknown): boolean {
  const { parts } = flattenAllOf(document, schema);
  return parts.some(
    ({ format, items }) => format === 'binary' || (items !== undefined && isBinary(document, items)),
  );
}

function isBinary(document: unknown, schema: unknown): boolean {
  return flattenAllOf(document, schema).parts.some(({ format }) => format === 'binary');
}
