import { expect, test } from 'vitest';
import { Mask, NO_MASK } from './mask.ts';

/** Title, values, text and masked text. */
const CASES: [what: string, values: string[], text: string, expected: string][] = [
  ['the value alone', ['treasure'], 'treasure', '***'],
  ['the value in a line', ['treasure'], 'key=treasure;', 'key=***;'],
  ['each occurrence', ['treasure'], 'treasure, treasuretreasure', '***, ******'],
  ['nothing else', ['treasure'], 'treasur reasure Treasure', 'treasur reasure Treasure'],
  ['a partial match before the value', ['treasure'], 'treastreasure', 'treas***'],
  ['a value of 4 characters', ['gold'], 'a gold bar', 'a *** bar'],
  ['no value of 3 characters', ['tin', ''], 'a tin bar', 'a tin bar'],
  ['values of at least 4 characters, not bytes', ['🚚🚚🚚', '🚚🚢🚚🚢'], '🚚🚚🚚 🚚🚢🚚🚢', '🚚🚚🚚 ***'],
  ['a value beyond ASCII', ['schlüssel €'], 'der schlüssel € passt', 'der *** passt'],
  ['no text around the value', ['gold'], 'ü gold 🚚\n', 'ü *** 🚚\n'],
  ['several values', ['gold', 'silver'], 'gold silver', '*** ***'],
  ['a value within another', ['gold', 'old golden ring'], 'an old golden ring of gold', 'an *** of ***'],
  ['values that overlap', ['abcdef', 'defghi'], '-abcdefghi-', '-***-'],
  ['a value that overlaps itself', ['aaaa'], 'aaaaaaaaaa b', '*** b'],
  ['a value after a partial match of another', ['abcde', 'bcdx'], 'abcdx abcde', 'a*** ***'],
  [
    'lines of a value of several lines',
    ['first one\r\nsecond\n\nend'],
    'second, end: first one',
    '***, end: ***',
  ],
  ['a value with a line end', ['treasure\n'], 'got treasure here', 'got *** here'],
  ['a value without the space around it', ['  treasure\t'], '[treasure]', '[***]'],
  ['no value of nothing but space', ['      '], 'a      b', 'a      b'],
  ['a value inside JSON', ['say "gold"\\'], '{"a":"say \\"gold\\"\\\\"}', '{"a":"***"}'],
  ['lines inside JSON', ['line one\nline two'], '{"a":"line one\\nline two"}', '{"a":"***\\n***"}'],
  ['special characters of regular expressions', ['a.c*[x](y)'], 'abc a.c*[x](y)', 'abc ***'],
  ['stars', ['****'], 'a **** b', 'a *** b'],
  ['an empty text', ['treasure'], '', ''],
];

test.each(CASES)('%s', (_what, values, text, expected) => {
  expect(new Mask(values).maskText(text)).toBe(expected);
});

test.each(CASES)('%s, in pieces of any size', async (_what, values, text, expected) => {
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size += 1) {
    const pieces = (async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    })();
    const masked: Buffer[] = [];
    for await (const piece of new Mask(values).maskStream(pieces, false)) masked.push(piece);
    expect(Buffer.concat(masked).toString()).toBe(expected);
  }
});

test('bytes that are not UTF-8 do not change', () => {
  const bytes = Buffer.from([0xff, 0, 0x80, ...Buffer.from('gold'), 0xfe]);
  expect(new Mask(['gold']).maskBytes(bytes)).toEqual(
    Buffer.from([0xff, 0, 0x80, ...Buffer.from('***'), 0xfe]),
  );
});

test('a mask without values changes nothing', () => {
  const bytes = Buffer.from('anything');
  expect(NO_MASK.isEmpty).toBe(true);
  expect(new Mask(['abc', '\n']).isEmpty).toBe(true);
  expect(NO_MASK.maskText('anything')).toBe('anything');
  expect(NO_MASK.maskBytes(bytes)).toBe(bytes);
});

test('a tail that starts within a value shows stars for the rest of the value', () => {
  const mask = new Mask(['treasure']);
  const text = 'ab treasure yz';
  const expected = [...Array(text.length + 1).keys()].map((from) => {
    const before = Math.min(from, mask.longestSecretBytes);
    return mask.maskTail(Buffer.from(text.slice(from - before)), before).toString();
  });
  const within = Array.from({ length: 'treasure'.length }, () => '*** yz');
  expect(expected).toEqual(['ab *** yz', 'b *** yz', ' *** yz', ...within, ' yz', 'yz', 'z', '']);
});

test('a line truncated within a value shows fewer than 4 characters of it', () => {
  const mask = new Mask(['treasure']);
  const remark = ' [line cut after 64 KiB]';
  expect(mask.maskLine(`a treasu${remark}`)).toBe(`a ***${remark}`);
  expect(mask.maskLine(`a tre${remark}`)).toBe(`a tre${remark}`);
  expect(mask.maskLine(`treasure!${remark}`)).toBe(`***!${remark}`);
  expect(mask.maskLine('a treasu')).toBe('a treasu');
});

test('a log truncated within a value shows fewer than 4 characters of it', async () => {
  const pieces = (async function* () {
    yield Buffer.from('gold, trea');
    yield Buffer.from('sur');
  })();
  const masked: Buffer[] = [];
  for await (const piece of new Mask(['treasure', 'gold']).maskStream(pieces, true)) masked.push(piece);
  expect(Buffer.concat(masked).toString()).toBe('***, ***');
});

test('64 values are masked as by a search for each value', () => {
  const letters = 'abc';
  let seed = 20_261_120;
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const word = (length: number): string => Array.from({ length }, () => letters[next(3)]).join('');
  for (let round = 0; round < 50; round += 1) {
    const values = Array.from({ length: 64 }, () => word(4 + next(9)));
    const text = word(300);
    const hidden = new Array<boolean>(text.length).fill(false);
    for (const value of values)
      for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1))
        hidden.fill(true, at, at + value.length);
    const visible = [...text].filter((_, at) => !hidden[at]).join('');
    expect(new Mask(values).maskText(text).replaceAll('*', '')).toBe(visible);
  }
});
