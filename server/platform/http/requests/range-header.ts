/**
 * Parses the Range header by RFC 9110, section 14. The server honours a single range. It ignores several ranges and
 * malformed ones, as the standard permits, and sends the whole content.
 */
import { Problem, quoteValue } from '../errors/problem.ts';

/** A range of byte positions, counted from 0. */
export interface ByteRange {
  from: number;
  /** The last byte, inclusive. */
  to: number;
}

interface RangeHeaders {
  range?: string | undefined;
  /** The If-Range header. With a tag other than the content's, the range belongs to another content and is ignored. */
  ifRange?: string | undefined;
}

/**
 * Returns the requested range, cut to the content; null for the whole content. Throws a 416 with the length of the content
 * for a range that begins after its end.
 */
export function parseRange(
  headers: RangeHeaders,
  content: { bytes: number; etag: string },
): ByteRange | null {
  if (headers.range === undefined) return null;
  if (headers.ifRange !== undefined && headers.ifRange !== content.etag) return null;
  const [, first = '', last = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(headers.range) ?? [];
  if (first === '' && last === '') return null;
  if (first !== '' && last !== '' && Number(first) > Number(last)) return null;
  const { bytes } = content;
  const from = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const to = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (from < bytes) return { from, to };
  throw new Problem(
    416,
    `Range is ${quoteValue(headers.range)}; the content has ${bytes} bytes, and a range of it begins before its end.`,
    { 'content-range': `bytes */${bytes}` },
  );
}
