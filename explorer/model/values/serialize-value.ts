import { formatCompactJson, isJsonObject } from '../document/json.ts';

/** The OpenAPI style of a value in an address, a header or a form. `mediaType` is that of a parameter with `content`. */
export type SerializationStyle = {
  style: string;
  explode: boolean;
  allowReserved?: boolean;
  mediaType?: string;
};

/** A name with a value of one or more pieces, which the separator joins without being escaped. */
export type SerializedPair = { name: string; pieces: readonly string[]; separator: string };

const SEPARATORS: Record<string, string> = { spaceDelimited: ' ', pipeDelimited: '|' };

function formatText(value: unknown): string {
  return typeof value === 'string' ? value : formatCompactJson(value);
}

function listNamesAndValues(value: object): string[] {
  return Object.entries(value).flatMap(([key, member]) => [key, formatText(member)]);
}

/** Writes a value as the pairs of a query, a cookie or a form: often one, and none for an empty list. */
export function serializeToPairs(
  name: string,
  value: unknown,
  { style, explode, mediaType }: SerializationStyle,
): SerializedPair[] {
  const createPair = (pieces: readonly string[], key = name) => ({
    name: key,
    pieces,
    separator: SEPARATORS[style] ?? ',',
  });
  if (mediaType !== undefined)
    return [createPair([/json/i.test(mediaType) ? formatCompactJson(value) : formatText(value)])];
  if (style === 'deepObject' && typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, member]) =>
      serializeToPairs(`${name}[${Array.isArray(value) ? '' : key}]`, member, { style, explode }),
    );
  }
  if (Array.isArray(value))
    return explode
      ? value.map((item) => createPair([formatText(item)]))
      : [createPair(value.map(formatText))];
  if (!isJsonObject(value)) return [createPair([formatText(value)])];
  return explode
    ? Object.entries(value).map(([key, member]) => createPair([formatText(member)], key))
    : [createPair(listNamesAndValues(value))];
}

/** Formats a pair without escapes, as forms and headers have it. */
export function formatPair({ name, pieces, separator }: SerializedPair): { name: string; value: string } {
  return { name, value: pieces.join(separator) };
}

function encode(piece: string): string {
  return encodeURIComponent(piece.toWellFormed());
}

/** Formats a pair for an address. With `keepsReserved`, reserved characters other than those of queries are not escaped. */
export function encodeQueryPair({ name, pieces, separator }: SerializedPair, keepsReserved = false): string {
  const encodePiece = (piece: string) =>
    keepsReserved
      ? encode(piece).replace(/%(?:3A|2F|3F|5B|5D|40|24|2C|3B)/g, decodeURIComponent)
      : encode(piece);
  return `${encode(name)}=${pieces.map(encodePiece).join(separator === ',' ? ',' : encode(separator))}`;
}

/** Writes a value for a path, with its pieces escaped. */
export function serializeToPath(name: string, value: unknown, serialization: SerializationStyle): string {
  return serialize(name, value, { ...serialization, write: encode });
}

/** Writes a value for a header. */
export function serializeToHeader(name: string, value: unknown, serialization: SerializationStyle): string {
  return serialize(name, value, { ...serialization, write: (piece) => piece });
}

function serialize(
  name: string,
  value: unknown,
  { style, explode, mediaType, write }: SerializationStyle & { write: (piece: string) => string },
): string {
  if (mediaType !== undefined)
    return write(/json/i.test(mediaType) ? formatCompactJson(value) : formatText(value));
  const pieces = listPieces(value, explode).map((pair) => pair.map(write).join('='));
  if (style === 'label') return `.${pieces.join(explode ? '.' : ',')}`;
  if (style !== 'matrix') return pieces.join(',');
  if (explode && isJsonObject(value)) return `;${pieces.join(';')}`;
  return explode ? pieces.map((piece) => `;${name}=${piece}`).join('') : `;${name}=${pieces.join(',')}`;
}

/** Lists the pieces of a value: single ones, or a name with its value for each member of an exploded object. */
function listPieces(value: unknown, explode: boolean): string[][] {
  if (Array.isArray(value)) return value.map((item) => [formatText(item)]);
  if (!isJsonObject(value)) return [[formatText(value)]];
  return explode
    ? Object.entries(value).map(([key, member]) => [key, formatText(member)])
    : listNamesAndValues(value).map((piece) => [piece]);
}
