import { expect, test } from 'vitest';
import { decodeUtf8, NotUtf8Error, Utf8Check } from './decode-utf8.ts';

const TEXT = '{"café":"naïve €😀"}';
const encode = (text: string, encoding: BufferEncoding) => new Uint8Array(Buffer.from(text, encoding));
const swap = (bytes: Uint8Array) => new Uint8Array(Buffer.from(bytes).swap16());

/** Checks the text in pieces of this size. */
function checkPieces(bytes: Uint8Array, size: number): void {
  const check = new Utf8Check();
  for (let at = 0; at < bytes.length; at += size) check.write(bytes.subarray(at, at + size));
  check.end();
}

test('W5: text is decoded with and without a byte order mark, whole and in pieces', () => {
  for (const text of ['', 'a', TEXT, `\uFEFF${TEXT}`]) {
    const bytes = encode(text, 'utf8');
    expect(decodeUtf8(bytes)).toBe(text.replace('\uFEFF', ''));
    for (const size of [2, 3, 5, 100]) checkPieces(bytes, size);
  }
});

test.each([
  ['Latin-1', encode('{"café":1}', 'latin1'), 'byte 5 is 0xE9; it looks like Latin-1 or Windows-1252'],
  ['Latin-1 at the end', encode('café', 'latin1'), 'byte 3 is 0xE9; it looks like Latin-1 or Windows-1252'],
  ['a currency sign', new Uint8Array([0x22, 0x80, 0x22]), 'byte 1 is 0x80; it looks like Windows-1252'],
  ['UTF-16 LE', encode('{"a":1}', 'utf16le'), 'byte 1 is 0x00; it looks like UTF-16 LE'],
  ['UTF-16 BE', swap(encode('{"a":1}', 'utf16le')), 'byte 0 is 0x00; it looks like UTF-16 BE'],
  ['marked UTF-16 LE', encode('\uFEFF{"a":1}', 'utf16le'), 'byte 0 is 0xFF; it looks like UTF-16 LE'],
  ['marked UTF-16 BE', swap(encode('\uFEFF{}', 'utf16le')), 'byte 0 is 0xFE; it looks like UTF-16 BE'],
  ['half a character', encode('{"a€', 'utf8').slice(0, -1), 'it ends after byte 4, inside a character'],
  [
    'a surrogate',
    new Uint8Array([0x61, 0x62, 0xed, 0xa0, 0x80]),
    'byte 2 is 0xED; it looks like Latin-1 or Windows-1252',
  ],
  [
    'a character too long',
    new Uint8Array([0x61, 0x62, 0xc0, 0x80]),
    'byte 2 is 0xC0; it looks like Latin-1 or Windows-1252',
  ],
])('W5: %s is refused with its position', (_, bytes, detail) => {
  expect(() => decodeUtf8(bytes)).toThrow(new NotUtf8Error(detail));
  for (const size of [2, 3, 100]) expect(() => checkPieces(bytes, size)).toThrow(new NotUtf8Error(detail));
});
