/** Which bytes a Range header means, by RFC 9110, section 14. */
import { describe, expect, test } from 'vitest';
import { parseRange } from './range-header.ts';

const CONTENT = { bytes: 1000, etag: '"c-1"' };
const of = (range: string | undefined, ifRange?: string, bytes = CONTENT.bytes) =>
  parseRange({ range, ifRange }, { ...CONTENT, bytes });

describe('a range', () => {
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
  ])('%s is bytes %i to %i of a thousand', (header, from, to) => {
    expect(of(header)).toEqual({ from, to });
  });

  test.each(['bytes=1000-', 'bytes=1000-2000', 'bytes=-0', `bytes=${'9'.repeat(400)}-`])(
    '%s begins behind the end: 416, and how long the content is',
    (header) => {
      expect(() => of(header)).toThrow(
        expect.objectContaining({ status: 416, headers: { 'content-range': 'bytes */1000' } }),
      );
    },
  );

  test.each(['bytes=0-', 'bytes=-5', 'bytes=0-0'])('%s of nothing is 416', (header) => {
    expect(() => of(header, undefined, 0)).toThrow('0 bytes');
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
  ])('%j is none that is answered, and the whole goes out', (header) => {
    expect(of(header)).toBeNull();
  });
});

describe('a range of what it is a range of', () => {
  test('holds with the tag of the content', () => {
    expect(of('bytes=0-4', '"c-1"')).toEqual({ from: 0, to: 4 });
  });
  test.each(['"c-2"', 'c-1', 'W/"c-1"', 'Fri, 20 Nov 2026 08:00:00 GMT', ''])(
    'does not with %j, even where it begins behind the end',
    (tag) => {
      expect(of('bytes=0-4', tag)).toBeNull();
      expect(of('bytes=5000-', tag)).toBeNull();
    },
  );
});
