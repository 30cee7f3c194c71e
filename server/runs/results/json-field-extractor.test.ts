/** The skimmer says of any bytes what JSON.parse says of them, however they are cut. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonFieldExtractor, NotJsonError } from './json-field-extractor.ts';

const WANTED = ['statistics', 'metrics', 'assets'];
const ANY_LENGTH = Object.fromEntries(WANTED.map((name) => [name, Number.MAX_SAFE_INTEGER]));

function skim(bytes: Uint8Array, piece = bytes.length): string {
  const skimmer = new JsonFieldExtractor(ANY_LENGTH);
  for (let at = 0; at < bytes.length; at += Math.max(1, piece))
    skimmer.write(bytes.subarray(at, at + Math.max(1, piece)));
  return skimmer.end();
}

/** What the skimmer should answer, by way of parsing it all. */
function expected(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString('utf8');
  if (/^[ \t\r\n]*$/.test(text)) return undefined;
  const value = JSON.parse(text) as unknown;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.fromEntries(Object.entries(value).filter(([name]) => WANTED.includes(name)));
}

function compare(bytes: Uint8Array): void {
  let right: unknown;
  let isJson = true;
  try {
    right = expected(bytes);
  } catch {
    isJson = false;
  }
  for (const piece of [bytes.length, 1, 3, 7]) {
    if (!isJson) expect(() => skim(bytes, piece), Buffer.from(bytes).toString()).toThrow(NotJsonError);
    else {
      const text = skim(bytes, piece);
      expect(text === '' ? undefined : JSON.parse(text), Buffer.from(bytes).toString()).toEqual(right);
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

describe('the skimmer', () => {
  test.each(TEXTS)('agrees about %j', (text) => compare(Buffer.from(text)));

  test('agrees about bytes that are no UTF-8', () => {
    compare(Buffer.from([0x22, 0xff, 0xc3, 0x22]));
    compare(Buffer.from([0x7b, 0xff, 0x7d]));
    compare(Buffer.from([0x22, 0x00, 0x22]));
  });

  test('agrees about any JSON, and about JSON with one byte changed, taken away or put in', () => {
    const value = fc.record(
      { statistics: fc.jsonValue(), metrics: fc.jsonValue(), solution: fc.jsonValue() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        value,
        fc.nat(),
        fc.nat(255),
        fc.constantFrom(0, 1, 2),
        fc.nat(2),
        (any, at, byte, cut, indent) => {
          const bytes = Buffer.from(JSON.stringify(any, null, indent));
          compare(bytes);
          const n = at % bytes.length;
          const changed = cut === 1 ? [] : [byte];
          compare(
            Buffer.concat([
              bytes.subarray(0, n),
              Buffer.from(changed),
              bytes.subarray(cut === 2 ? n : n + 1),
            ]),
          );
        },
      ),
      { numRuns: 2000, seed: 20261120 },
    );
  });

  test('goes as deep as there are bytes', () => {
    const deep = 1_000_000;
    const bytes = Buffer.from(`{"a":${'['.repeat(deep)}${']'.repeat(deep)},"metrics":1}`);
    expect(skim(bytes, 65_536)).toBe('{"metrics":1}');
    expect(() => skim(bytes.subarray(0, -3), 65_536)).toThrow('ends before');
  });
});

test('a field that is too long is left out and told, unless a shorter one of its name follows', () => {
  const told = (text: string): [string, [string, number][]] => {
    const skimmer = new JsonFieldExtractor({ a: 5, b: 5 });
    skimmer.write(Buffer.from(text));
    return [skimmer.end(), [...skimmer.oversizedFields]];
  };
  expect(told('{"a":[1,2],"b":[1,23]}')).toEqual(['{"a":[1,2]}', [['b', 6]]]);
  expect(told('{"b":[1,23],"b":1}')).toEqual(['{"b":1}', []]);
  expect(told('{"b":1,"b":[1,23]}')).toEqual(['{}', [['b', 6]]]);
});
