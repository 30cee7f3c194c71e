import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeRegExp } from './regular-expressions.ts';

const FLAGS = ['', 'u', 'v'];

test.each([
  'or-tools',
  'cp-sat',
  'a+b',
  '[a-z]',
  '\\',
  '\\u{110000}',
  'c++',
  '(',
  '/',
  '$&',
  '\u{1F682}',
  '\ud83d',
])('B3: an escaped %j matches itself', (text) => {
  for (const flags of FLAGS)
    expect(new RegExp(`^(${escapeRegExp(text)})$`, flags).test(text), flags).toBe(true);
});

test('B3: any escaped text matches itself and nothing else', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(...FLAGS), (text, flags) => {
      const pattern = new RegExp(`^(?:${escapeRegExp(text)})$`, flags);
      expect([pattern.test(text), pattern.test(`${text}.`)]).toEqual([true, false]);
    }),
  );
});
