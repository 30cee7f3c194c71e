/**
 * Which bytes of a content a request asks for, by RFC 9110, section 14. One range is answered; several at once, and what
 * is no range, are as if nothing had been asked, which the standard leaves to the server: then the whole goes out.
 */
import { Problem, quoteValue } from '../errors/problem.ts';

/** Bytes of a content, both ends included. */
export interface ByteRange {
  from: number;
  to: number;
}

interface Asked {
  range?: string | undefined;
  /** With a tag other than the content's own the range is of something else, and the whole is sent. */
  ifRange?: string | undefined;
}

/**
 * The bytes asked for; null for all of them. Throws the 416 for a range that begins behind the end, which tells how long
 * the content is.
 */
export function parseRange(asked: Asked, content: { bytes: number; etag: string }): ByteRange | null {
  if (asked.range === undefined) return null;
  if (asked.ifRange !== undefined && asked.ifRange !== content.etag) return null;
  const [, first = '', last = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(asked.range) ?? [];
  if (first === '' && last === '') return null;
  if (first !== '' && last !== '' && Number(first) > Number(last)) return null;
  const { bytes } = content;
  const from = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const to = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (from < bytes) return { from, to };
  throw new Problem(
    416,
    `Range is ${quoteValue(asked.range)}; the content has ${bytes} bytes, and a range of it begins before its end.`,
    { 'content-range': `bytes */${bytes}` },
  );
}
