import { formatCompactJson, isJsonObject } from '../document/json.ts';

/** How a value is written into an address, a header or a form. `mediaType` is that of a parameter with `content`. */
export type SerializationStyle = {
  style: string;
  explode: boolean;
  allowReserved?: boolean;
  mediaType?: string;
};

/** A name with a value of one or more pieces; what joins them is written as it is. */
export type SerializedPair = { name: string; pieces: readonly string[]; separator: string };

const separators: Record<string, string> = { spaceDelimited: ' ', pipeDelimited: '|' };

function text(value: unknown): string {
  return typeof value === 'string' ? value : formatCompactJson(value);
}

function flat(value: object): string[] {
  return Object.entries(value).flatMap(([key, member]) => [key, text(member)]);
}

/** A value as the pairs of a query, a cookie or a form: often one, and none for an empty list. */
export function serializeToPairs(
  name: string,
  value: unknown,
  { style, explode, mediaType }: SerializationStyle,
): SerializedPair[] {
  const one = (pieces: readonly string[], key = name) => ({
    name: key,
    pieces,
    separator: separators[style] ?? ',',
  });
  if (mediaType !== undefined)
    return [one([/json/i.test(mediaType) ? formatCompactJson(value) : text(value)])];
  if (style === 'deepObject' && typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, member]) =>
      serializeToPairs(`${name}[${Array.isArray(value) ? '' : key}]`, member, { style, explode }),
    );
  }
  if (Array.isArray(value)) return explode ? value.map((item) => one([text(item)])) : [one(value.map(text))];
  if (!isJsonObject(value)) return [one([text(value)])];
  return explode
    ? Object.entries(value).map(([key, member]) => one([text(member)], key))
    : [one(flat(value))];
}

/** A pair as forms, headers and people write it. */
export function formatPair({ name, pieces, separator }: SerializedPair): { name: string; value: string } {
  return { name, value: pieces.join(separator) };
}

function encoded(piece: string): string {
  return encodeURIComponent(piece.toWellFormed());
}

/** A pair as it stands in an address. Reserved characters stay when the document allows it, except those of queries. */
export function encodeQueryPair({ name, pieces, separator }: SerializedPair, reserved = false): string {
  const kept = (piece: string) =>
    reserved
      ? encoded(piece).replace(/%(?:3A|2F|3F|5B|5D|40|24|2C|3B)/g, decodeURIComponent)
      : encoded(piece);
  return `${encoded(name)}=${pieces.map(kept).join(separator === ',' ? ',' : encoded(separator))}`;
}

/** A value as it stands in a path (`encode`) or in a header. */
export function serializePathOrHeader(
  name: string,
  value: unknown,
  how: SerializationStyle,
  encode: boolean,
): string {
  const { style, explode, mediaType } = how;
  const write = encode ? encoded : (piece: string) => piece;
  if (mediaType !== undefined) return write(/json/i.test(mediaType) ? formatCompactJson(value) : text(value));
  const pieces = Array.isArray(value)
    ? value.map((item) => write(text(item)))
    : !isJsonObject(value)
      ? [write(text(value))]
      : explode
        ? Object.entries(value).map(([key, member]) => `${write(key)}=${write(text(member))}`)
        : flat(value).map(write);
  if (style === 'label') return `.${pieces.join(explode ? '.' : ',')}`;
  if (style !== 'matrix') return pieces.join(',');
  if (explode && isJsonObject(value)) return `;${pieces.join(';')}`;
  return explode ? pieces.map((piece) => `;${name}=${piece}`).join('') : `;${name}=${pieces.join(',')}`;
}
