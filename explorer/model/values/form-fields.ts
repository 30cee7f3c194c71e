import { formatCompactJson, getOwnMember, isJsonObject } from '../document/json.ts';
import type { MergedSchema, ResolvedDocument } from '../document/resolved-document.ts';
import { formatPair, serializeToPairs } from './serialize-value.ts';

/** One field of a form; a `file` has its content in place of a text. */
export type FormField = { name: string; kind: 'text' | 'json' | 'file'; text: string };

/** A body in one media type: its entry in the `content` of the document, and the value of its example. */
type FormBody = { mediaType: string; media: unknown; value: unknown };

export function isUrlEncoded(mediaType: string): boolean {
  return /^application\/x-www-form-urlencoded/i.test(mediaType);
}

export function isMultipart(mediaType: string): boolean {
  return /^multipart\//i.test(mediaType);
}

/** Lists the fields of a form with this value, written as the media type and its `encoding` prescribe. */
export function buildFormFields(
  document: ResolvedDocument,
  { mediaType, media, value }: FormBody,
): FormField[] {
  if (!isJsonObject(value)) return [];
  const { properties } = document.merge(getOwnMember(media, 'schema'));
  return Object.entries(value).flatMap(([name, member]): FormField[] => {
    if (isUrlEncoded(mediaType)) {
      return encodeField(name, member, getOwnMember(getOwnMember(media, 'encoding'), name));
    }
    const items = Array.isArray(member) ? member : [member];
    if (isFile(document, document.merge(properties.get(name))))
      return items.map(() => ({ name, kind: 'file', text: '' }));
    return items.map((item) =>
      typeof item === 'object' && item !== null
        ? { name, kind: 'json', text: formatCompactJson(item) }
        : { name, kind: 'text', text: typeof item === 'string' ? item : formatCompactJson(item) },
    );
  });
}

/** Writes a field of a URL-encoded form. An object is JSON unless its encoding names a style. */
function encodeField(name: string, value: unknown, encoding: unknown): FormField[] {
  const style = getOwnMember(encoding, 'style');
  if (isJsonObject(value) && typeof style !== 'string')
    return [{ name, kind: 'text', text: formatCompactJson(value) }];
  const chosen = typeof style === 'string' ? style : 'form';
  const explode = getOwnMember(encoding, 'explode') ?? chosen === 'form';
  return serializeToPairs(name, value, { style: chosen, explode: explode === true })
    .map(formatPair)
    .map((pair) => ({ name: pair.name, kind: 'text', text: pair.value }));
}

/** Returns whether a field, or every item of it, is a file. */
function isFile(document: ResolvedDocument, { parts }: MergedSchema): boolean {
  return parts.some(({ format, items }) => format === 'binary' || isBinary(document.merge(items)));
}

function isBinary({ parts }: MergedSchema): boolean {
  return parts.some(({ format }) => format === 'binary');
}
