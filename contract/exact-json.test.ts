/** Numbers of JSON that a double does not hold. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatExactJson,
  getDigits,
  markExactNumbers,
  parseExactJson,
  writeMarkedNumbers,
} from './exact-json.ts';

const LOST = [
  '9007199254740993',
  '-12345678901234567890',
  '0.12345678901234567890123',
  '1234567.12345678901234567',
  '1.00000000000000000001e-5',
];

describe('S10', () => {
  test.each(LOST)('%s keeps its digits in objects, lists and by itself in an object', (digits) => {
    const text = `{"a":${digits},"list":[1,${digits}],"deep":{"b":{"c":${digits}}},"text":"${digits}"}`;
    expect(formatExactJson(parseExactJson(text))).toBe(text);
    expect(writeMarkedNumbers(JSON.stringify(JSON.parse(markExactNumbers(text))))).toBe(text);
    expect(parseExactJson(text)).toMatchObject({ a: Number(digits), text: digits });
  });

  test.each([
    ['0.30000000000000004', 'the shortest form of a double'],
    ['1.50000000000000000000', 'zeros at the end'],
    ['100000000000000000000', 'a power of ten'],
    ['1e400', 'no double'],
    ['9'.repeat(101), 'too long'],
  ])('%s has no mark: %s', (literal) => {
    const text = `{"a":${literal}}`;
    expect(markExactNumbers(text)).toBe(text);
  });

  test('a copy has the digits, a changed number has none', () => {
    const value = parseExactJson('{"a":9007199254740993,"b":9007199254740993}');
    const copy = { ...Object(value), b: 2 };
    expect(formatExactJson(copy)).toBe('{"a":9007199254740993,"b":2}');
    expect([getDigits(copy, 'a'), getDigits(copy, 'b'), getDigits({}, 'a')]).toEqual([
      '9007199254740993',
      undefined,
      undefined,
    ]);
  });

  test('texts that look like numbers, escapes and marks stay texts', () => {
    const text = '{"a\\"12345678901234567890":"\\\\","b":"number:12345678901234567890","c":9007199254740993}';
    expect(formatExactJson(parseExactJson(text))).toBe(text);
  });

  test('values that nest deeper than the stack are read and written without digits', () => {
    const deep = `{"lost":9007199254740993,"deep":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect(formatExactJson(parseExactJson(deep)).length).toBe(deep.length);
  });

  test('any JSON is read as JSON.parse reads it, and written as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(...LOST), (json, digits) => {
        const text = `{"lost":${digits},"value":${json}}`;
        expect(JSON.stringify(parseExactJson(text))).toBe(JSON.stringify(JSON.parse(text)));
        expect(formatExactJson(JSON.parse(json))).toBe(JSON.stringify(JSON.parse(json)));
        expect(formatExactJson(parseExactJson(text))).toContain(`"lost":${digits}`);
      }),
    );
  });
});
