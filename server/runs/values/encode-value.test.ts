/** Encoded values sort as the values do. */
import { expect, test } from 'vitest';
import { encodeNumber, encodeText, encodeValue, lieBetween, splitWords, startWith } from './encode-value.ts';

const sortByBytes = (values: string[]): string[] =>
  values.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));

test('numbers sort by size, before all texts', () => {
  const numbers = [
    -Number.MAX_VALUE,
    -1e10,
    -2,
    -1.5,
    -5e-324,
    0,
    5e-324,
    0.1,
    1,
    10,
    9e15,
    Number.MAX_VALUE,
  ];
  const encoded = [...numbers.map(encodeNumber), encodeText(''), encodeText('1')];
  expect(sortByBytes([...encoded].reverse())).toEqual(encoded);
});

test.each([
  ['12', 12],
  [' -1.50 ', -1.5],
  ['.5e1', 5],
  [-0, 0],
])('%j is the number %f', (value, number) => {
  expect(encodeValue(value)).toBe(encodeNumber(number));
});

test.each(['', '1e999', '0x10', 'Infinity', '1,5', 'one'])('%j is a text', (text) => {
  expect(encodeValue(text)).toBe(encodeText(text));
});

test('long texts stay distinct, short, and in the order of their beginnings', () => {
  const long = 'x'.repeat(5000);
  const encoded = [encodeText(`${long}a`), encodeText(`${long}b`)];
  expect(new Set(encoded).size).toBe(2);
  expect(Math.max(...encoded.map(({ length }) => length))).toBeLessThan(150);
  expect(sortByBytes([encodeText('y'), ...encoded]).at(-1)).toBe(encodeText('y'));
});

test('no encoded text has NUL or half a surrogate pair', () => {
  expect(encodeText('a\0b\ud800')).toBe(encodeText('a\u{fffd}b\u{fffd}'));
});

test('intervals contain their ends and what begins with the prefix', () => {
  const open = lieBetween(undefined, undefined);
  expect(sortByBytes([open.to, encodeNumber(Number.MAX_VALUE), open.from, encodeNumber(-1e300)])).toEqual([
    open.from,
    encodeNumber(-1e300),
    encodeNumber(Number.MAX_VALUE),
    open.to,
  ]);
  const prefix = startWith('to');
  expect(sortByBytes([encodeText('tour'), encodeText('to'), prefix.to, encodeText('tz')])).toEqual([
    prefix.from,
    encodeText('tour'),
    prefix.to,
    encodeText('tz'),
  ]);
});

test.each([
  ['Tour 12, Zürich-West', ['tour', '12', 'zürich', 'west']],
  ['a A a', ['a']],
  ['– … –', []],
])('the words of %j are %j', (text, words) => {
  expect(splitWords(text)).toEqual(words);
});
