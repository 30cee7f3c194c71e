/** The extractor accepts exactly the bytes that JSON.parse accepts, whatever the sizes of the pieces. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonFieldExtractor, NotJsonError } from './json-field-extractor.ts';

const WANTED = ['statistics', 'metrics', 'assets'];
const ANY_LENGTH = Object.fromEntries(WANTED.map((name) => [name, Number.MAX_SAFE_INTEGER]));

function extract(bytes: Uint8Array, piece = bytes.length): string {
  const extractor = new JsonFieldExtractor(ANY_LENGTH);
  for (let at = 0; at < bytes.length; at += Math.max(1, piece))
    extractor.write(bytes.subarray(at, at + Math.max(1, piece)));
  return extractor.end();
}

/** Returns the wanted fields by JSON.parse; undefined for white space, an empty list for a value that is no object. */
function parseWanted(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString('utf8');
  if (/^[ \t\r\n]*$/.test(text)) return undefined;
  const value = JSON.parse(text) as unknown;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.fromEntries(Object.entries(value).filter(([name]) => WANTED.includes(name)));
}

function expectSameAsParse(bytes: Uint8Array): void {
  let expected: unknown;
  let isJson = true;
  try {
    expected = parseWanted(bytes);
  } catch {
    isJson = false;
  }
  for (const piece of [bytes.length, 1, 3, 7]) {
    if (!isJson) expect(() => extract(bytes, piece), Buffer.from(bytes).toString()).toThrow(NotJsonError);
    else {
      const text = extract(bytes, piece);
      expect(text === '' ? undefined : JSON.parse(text), Buffer.from(bytes).toString()).toEqual(expected);
    }
  }
}

const TEXTS = [
  '',
  ' \n',
  '{}',
  '[]',
  ' { } ',
  'null',
  'true',
  'fals',
  'falsee',
  '0',
  '-0',
  '-',
  '01',
  '1.',
  '.5',
  '1.5e+10',
  '1e',
  '1e-',
  '-1.5E-07',
  '1 2',
  '"',
  '"a',
  '"a"',
  '"\\u12"',
  '"\\u12aF"',
  '"\\x"',
  '"\t"',
  '"\\"',
  '{',
  '}',
  '[1,]',
  '[,1]',
  '[1 2]',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{,}',
  '{"a":1 "b":2}',
  '{1:2}',
  '{"a":[}',
  '[{]',
  '{"a":{}}}',
  '[]]',
  '[[[[]]]]',
  '{"statistics":1}',
  '{"statistics": -0.5 , "metrics":"x"}',
  '{"statistics":{"statistics":2},"other":{"metrics":3}}',
  '{"statistics":1,"statistics":{"a":[true,null]}}',
  '{"st\\u0061tistics":"by escape"}',
  '{"assets":[{"name":"a"}],"x":[{"assets":1}]}',
  '[{"statistics":1}]',
  '{"metrics":null}',
  '{"metrics":false,"a":1}',
  '{"metrics":12',
  '{"metrics":12 ',
  '{"__proto__":1,"metrics":2}',
  '{"a":"statistics","metrics":"\\"}"}',
  '{"":1,"metrics":""}',
  '\ufeff{}',
  '{"a":"ä€𝄞\\ud834"}',
  "{'a':1}",
  '{"a":1}//',
  'nul',
  'Infinity',
];

describe('the field extractor', () => {
  test.each(TEXTS)('agrees with JSON.parse on %j', (text) => expectSameAsParse(Buffer.from(text)));

  test('agrees with JSON.parse on bytes that are not UTF-8', () => {
    expectSameAsParse(Buffer.from([0x22, 0xff, 0xc3, 0x22]));
    expectSameAsParse(Buffer.from([0x7b, 0xff, 0x7d]));
    expectSameAsParse(Buffer.from([0x22, 0x00, 0x22]));
  });

  test('agrees with JSON.parse on any JSON, also with one byte replaced, removed or inserted', () => {
    const value = fc.record(
      { statistics: fc.jsonValue(), metrics: fc.jsonValue(), solution: fc.jsonValue() },
      { requiredKeys: [] },
    );
    const mutation = fc.record({
      position: fc.nat(),
      byte: fc.nat(255),
      kind: fc.constantFrom('replace', 'remove', 'insert'),
    });
    fc.assert(
      fc.property(value, fc.nat(2), mutation, (output, indent, { position, byte, kind }) => {
        const bytes = Buffer.from(JSON.stringify(output, null, indent));
        expectSameAsParse(bytes);
        const index = position % bytes.length;
        const inserted = kind === 'remove' ? [] : [byte];
        const rest = bytes.subarray(kind === 'insert' ? index : index + 1);
        expectSameAsParse(Buffer.concat([bytes.subarray(0, index), Buffer.from(inserted), rest]));
      }),
      { numRuns: 2000, seed: 20261120 },
    );
  });

  test('accepts JSON that nests 1,000,000 levels depth', () => {
    const depth = 1_000_000;
    const bytes = Buffer.from(`{"a":${'['.repeat(depth)}${']'.repeat(depth)},"metrics":1}`);
    expect(extract(bytes, 65_536)).toBe('{"metrics":1}');
    expect(() => extract(bytes.subarray(0, -3), 65_536)).toThrow('ends before');
  });
});

test('drops a field above its limit and records its size, unless a shorter one of the same name follows', () => {
  const extractWithSizes = (text: string): [string, [string, number][]] => {
    const extractor = new JsonFieldExtractor({ a: 5, b: 5 });
    extractor.write(Buffer.from(text));
    return [extractor.end(), [...extractor.oversizedFields]];
  };
  expect(extractWithSizes('{"a":[1,2],"b":[1,23]}')).toEqual(['{"a":[1,2]}', [['b', 6]]]);
  expect(extractWithSizes('{"b":[1,23],"b":1}')).toEqual(['{"b":1}', []]);
  expect(extractWithSizes('{"b":1,"b":[1,23]}')).toEqual(['{}', [['b', 6]]]);
});
