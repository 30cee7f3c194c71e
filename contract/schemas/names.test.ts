/** The pattern of every name that one person chooses and another reads, and that of addresses. */
import { expect, test } from 'vitest';
import { EMAIL_PATTERN } from './field-schemas.ts';
import { NAME_PATTERN } from './ids.ts';

const isName = (text: string): boolean => new RegExp(NAME_PATTERN, 'u').test(text);
const isEmail = (text: string): boolean => new RegExp(EMAIL_PATTERN, 'u').test(text);

const HIDDEN = [
  ...['\0', '\t', '\n', '\r', '\u001b[2J', '\u007f', '\u0085', '\u009b31m', '\u2028', '\u2029'],
  ...['\u061c', '\u200b', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069', '\ufeff', '\ufffb'],
];
test.each(HIDDEN.map((text) => JSON.stringify(text)))('A14: no name has %s', (json) => {
  expect(isName(`build ${JSON.parse(json)} 7`)).toBe(false);
});

test.each(['build 7', '=1+1<img>', 'Über 計画 🚚', 'می‌خواهم', '👩‍💻', 'שלום', ''])(
  'A14: "%s" may be a name',
  (text) => {
    expect(isName(text)).toBe(true);
  },
);

test.each([
  'ada@example.com',
  "o'hara+tag@sub.example.com",
  'root@localhost',
  'jörg@bücher.example',
  'a_b-c@my_host',
])('A14: %s is an address', (text) => expect(isEmail(text)).toBe(true));

test.each([
  ...['<ada@example.com', 'ada>@example.com', '"ada"@example.com', 'ada,bob@example.com', 'a;b@example.com'],
  ...['.ada@example.com', 'ada.@example.com', 'a..b@example.com', 'a(b)@example.com', 'a\\b@example.com'],
  ...[
    'ada@',
    '@example.com',
    'a@b@c',
    'ada@example..com',
    'ada@.example.com',
    'ada@exa/mple.com',
    'ada@[::1]',
  ],
  ...['ada \u202e@example.com', 'ad\u200ba@example.com', 'ada@exam\u2066ple.com', 'ada\n@example.com'],
])('A14: %j is no address', (text) => {
  expect(isEmail(text)).toBe(false);
});
