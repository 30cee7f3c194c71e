/** Archives with false sizes, names and links, in headers that no tool writes, are rejected in bounded time and memory. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { inspectArchive, unpackArchive } from './archive.ts';
import { InvalidArchiveError } from './archive-rules.ts';

interface Written {
  name: string;
  type?: string;
  /** Text is written unchanged, for invalid numbers. */
  size?: number | string;
  link?: string;
  mode?: string;
  body?: Buffer | string;
}

function entry({ name, type = '0', link = '', mode = '0000644', body = '', size }: Written): Buffer {
  const bytes = Buffer.from(body);
  const declaredSize = size ?? bytes.length;
  const header = Buffer.alloc(512);
  header.write(name, 0, 100);
  header.write(`${mode}\0`, 100);
  header.write(
    typeof declaredSize === 'string' ? declaredSize : `${declaredSize.toString(8).padStart(11, '0')}\0`,
    124,
    'latin1',
  );
  header.write(type, 156);
  header.write(link, 157, 100);
  header.write('ustar\x0000', 257);
  sign(header);
  return Buffer.concat([header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
}

function sign(header: Buffer): void {
  header.write('        ', 148);
  const sum = header.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
}

/** Returns an extended header, which overrides fields of the next entry. */
function pax(...records: [string, string][]): Buffer {
  const body = records.map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    const length = Buffer.byteLength(rest);
    const digits = String(length + String(length).length).length;
    return `${length + digits}${rest}`;
  });
  return entry({ name: 'pax', type: 'x', body: body.join('') });
}

const END = Buffer.alloc(1024);
const file: Written = { name: 'a', body: 'x' };
const named = (path: string): Buffer[] => [pax(['path', path]), entry(file)];
const archive = (parts: readonly Buffer[]): Buffer => gzipSync(Buffer.concat([...parts, END]), { level: 1 });
const many = (count: number, make: (index: number) => Buffer[]): Buffer[] =>
  Array.from({ length: count }, (_, index) => make(index)).flat();

const links = (count: number, target: (index: number) => string): Buffer[] =>
  many(count, (at) => [entry({ name: `l${at}`, type: '2', link: target(at) })]);

const HOSTILE: [string, () => Buffer[], string][] = [
  ['a size that is no number', () => [pax(['size', 'abc']), entry(file)], 'no tar'],
  ['a size below nothing', () => [pax(['size', '-5']), entry(file)], 'no tar'],
  ['a false size', () => [pax(['size', '1000000000']), entry(file)], 'truncated'],
  [
    'a size of 72 bits',
    () => [entry({ ...file, size: `\x80\0\0\0${'\xff'.repeat(8)}` })],
    'more than 2147483648',
  ],
  [
    'a long name of negative size',
    () => [entry({ name: 'n', type: 'L', size: '\xff'.repeat(12) }), entry(file)],
    '',
  ],
  ['.. in a long name', () => named('../../x'), '".." in its path'],
  ['a zero byte in a long name', () => named('a\0b'), 'zero byte'],
  ['a path of 20,000 levels', () => named(`${'a/'.repeat(20_000)}f`), 'more than 1024 bytes'],
  ['a path of 4 MB', () => named('a'.repeat(4_000_000)), 'unpacks to more than'],
  ['a path of 500 levels', () => named(`${'a/'.repeat(500)}f`), 'levels deep'],
  ['a name that no file system takes', () => named('a'.repeat(256)), 'more than 255 bytes'],
  [
    'too many folders without entries of their own',
    () => many(400, (at) => named(`${at}/${'b/'.repeat(60)}f`)),
    'more than 20000 folders',
  ],
  [
    'a link out of the archive by a long name',
    () => [pax(['linkpath', '/etc/passwd']), entry({ name: 'l', type: '2', link: 'x' })],
    'leads out',
  ],
  [
    'a link of 4 kB',
    () => [pax(['linkpath', 'a/'.repeat(2000)]), entry({ name: 'l', type: '2' })],
    'too long or contains a zero byte',
  ],
  [
    'nested links of growing length',
    () => links(30, (at) => `l${at + 1}/${'a/'.repeat(10)}`),
    'too many steps to its target',
  ],
  [
    '20,000 nested links',
    () => links(20_000, (at) => (at === 36 ? 'x' : `l${at < 36 ? at + 1 : 1}`)),
    'too many steps to its target',
  ],
  [
    'a link with a body',
    () => [entry({ name: 'l', type: '2', link: 'x', body: Buffer.alloc(8_000_000) })],
    'unpacks to more than',
  ],
  [
    'extended headers of a million records',
    () => many(3, () => [entry({ name: 'p', type: 'x', body: '5 a=\n'.repeat(800_000) })]),
    'unpacks to more than',
  ],
  [
    'a file with holes',
    () => [entry({ name: 'a', type: 'S', body: 'hello' })],
    'neither file, folder nor link',
  ],
  ['an archive in an archive', () => [archive([entry(file)])], ''],
];

describe('is rejected quickly', () => {
  test.each(HOSTILE)('%s', async (_, make, words) => {
    const bytes = archive(make());
    const began = performance.now();
    const refused = inspectArchive(Readable.from([bytes]));
    await expect(refused).rejects.toThrow(InvalidArchiveError);
    await expect(refused).rejects.toThrow(words);
    const { message } = (await refused.catch((error: unknown) => error)) as Error;
    expect(message.length).toBeLessThan(700);
    // Without limits some of them take minutes.
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});

test('unpacking drops mode bits other than read and execute', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-archive-'));
  try {
    const modes = ['0006777', '0001777', '0000000'];
    const entries = modes.map((mode) => entry({ name: mode, mode, body: 'x' }));
    await unpackArchive(Readable.from([archive(entries)]), folder);
    const found = readdirSync(folder).map((name) => [
      name,
      (statSync(join(folder, name)).mode & 0o7777).toString(8),
    ]);
    expect(Object.fromEntries(found)).toEqual({ '0006777': '755', '0001777': '755', '0000000': '644' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('names may differ in case alone and contain backslashes and line breaks', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-archive-'));
  try {
    const names =
      process.platform === 'linux' ? ['Readme', 'README', 'a\\..\\..\\b', 'c\r\nd', '%2e%2e'] : ['README'];
    await unpackArchive(Readable.from([archive(names.map((name) => entry({ name, body: name })))]), folder);
    expect(readdirSync(folder).sort()).toEqual(names.sort());
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('random bytes are read or rejected', async () => {
  const whole = Buffer.concat([
    pax(['path', `${'long/'.repeat(30)}f`], ['size', '5']),
    entry({ name: 'a', body: 'hello' }),
    entry({ name: 'b', body: 'x'.repeat(700) }),
    entry({ name: 'l', type: '2', link: 'b' }),
    entry({ name: 'h', type: '1', link: 'b' }),
    entry({ name: 'd/', type: '5' }),
    entry({ name: 'n', type: 'L', body: 'a'.repeat(130) }),
    entry({ name: 'c', body: 'y' }),
    END,
  ]);
  let seed = 77;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return seed % below;
  };
  for (let round = 0; round < 400; round += 1) {
    const bytes = Buffer.from(whole);
    for (let left = 1 + random(6); left > 0; left -= 1) bytes[random(bytes.length)] = random(256);
    // Most have a correct checksum, so that the other checks are reached.
    for (let at = 0; at + 512 <= bytes.length; at += 512)
      if (bytes.toString('latin1', at + 257, at + 262) === 'ustar' && random(4) > 0)
        sign(bytes.subarray(at, at + 512));
    const cut = random(8) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes;
    const read = inspectArchive(Readable.from([gzipSync(cut, { level: 0 })])).catch(
      (error: unknown) => error,
    );
    const result = await read;
    if (result instanceof Error) expect(result, `round ${round}`).toBeInstanceOf(InvalidArchiveError);
  }
});
