/** Ranges of bytes, by RFC 9110, section 14. */
import { describe, expect, test } from 'vitest';
import { parseRange } from './range-header.ts';

const CONTENT = { bytes: 1000, etag: '"c-1"' };
const parse = (range: string | undefined, ifRange?: string, bytes = CONTENT.bytes) =>
  parseRange({ range, ifRange }, { ...CONTENT, bytes });

describe('a Range header', () => {
  test.each([
    ['bytes=0-0', 0, 0],
    ['bytes=0-499', 0, 499],
    ['bytes=999-', 999, 999],
    ['bytes=500-', 500, 999],
    ['bytes=500-5000', 500, 999],
    ['bytes=-1', 999, 999],
    ['bytes=-999', 1, 999],
    ['bytes=-5000', 0, 999],
    ['bytes=0-99999999999999999999999999', 0, 999],
    ['BYTES= 1-2 ', 1, 2],
  ])('%s selects bytes %i to %i of a thousand', (header, from, to) => {
    expect(parse(header)).toEqual({ from, to });
  });

  test.each(['bytes=1000-', 'bytes=1000-2000', 'bytes=-0', `bytes=${'9'.repeat(400)}-`])(
    '%s begins after the end: 416 with the length of the content',
    (header) => {
      expect(() => parse(header)).toThrow(
        expect.objectContaining({ status: 416, headers: { 'content-range': 'bytes */1000' } }),
      );
    },
  );

  test.each(['bytes=0-', 'bytes=-5', 'bytes=0-0'])('%s of an empty content returns 416', (header) => {
    expect(() => parse(header, undefined, 0)).toThrow('0 bytes');
  });

  test.each([
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=5-4',
    'bytes=a-b',
    'bytes=1-2,5-6',
    'bytes=1-2-3',
    'bytes=+1-2',
    'bytes=1.5-2',
    'items=0-1',
    ' bytes=0-1',
    'bytes=٣-٤',
  ])('%j is ignored, and the response has the whole content', (header) => {
    expect(parse(header)).toBeNull();
  });
});

describe('a Range header with If-Range', () => {
  test('applies with the tag of the content', () => {
    expect(parse('bytes=0-4', '"c-1"')).toEqual({ from: 0, to: 4 });
  });
  test.each(['"c-2"', 'c-1', 'W/"c-1"', 'Fri, 20 Nov 2026 08:00:00 GMT', ''])(
    'is ignored with %j, even when the range begins after the end',
    (tag) => {
      expect(parse('bytes=0-4', tag)).toBeNull();
      expect(parse('bytes=5000-', tag)).toBeNull();
    },
  );
});
