/** Archives, hostile ones included, are rejected with the name of the entry or unpacked exactly. */
import {
  createReadStream,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { computeSha256, createTar, type TarEntry } from '../testing/archives.ts';
import { inspectArchive, unpackArchive } from './archive.ts';
import { ArchiveValidator, InvalidArchiveError } from './archive-rules.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function freshFolder(): string {
  const outer = mkdtempSync(join(tmpdir(), 'switchyard-archive-'));
  folders.push(outer);
  return outer;
}

async function unpack(bytes: Buffer): Promise<string> {
  const folder = freshFolder();
  await unpackArchive(Readable.from([bytes]), folder);
  return folder;
}

const link = (name: string, linkname: string): TarEntry => ({ name, type: 'symlink', linkname });
const hard = (name: string, linkname: string): TarEntry => ({ name, type: 'link', linkname });

const HOSTILE: { what: string; entries: TarEntry[]; names: string }[] = [
  { what: 'an absolute path', entries: [{ name: '/etc/x', body: 'x' }], names: '"/etc/x"' },
  { what: 'a path with ..', entries: [{ name: 'a/../../x', body: 'x' }], names: '"a/../../x"' },
  {
    what: 'a path with .. that would stay inside',
    entries: [{ name: 'a/../x', body: 'x' }],
    names: '"a/../x"',
  },
  { what: 'an absolute link', entries: [link('l', '/etc/passwd')], names: '"l"' },
  { what: 'a link that leaves', entries: [link('a/l', '../../x')], names: '"a/l"' },
  {
    what: 'a link that leaves by another link',
    entries: [link('p/q/d', '../..'), link('p/q/e', 'd/../x')],
    names: '"p/q/e"',
  },
  {
    what: 'the same in the other order',
    entries: [link('p/q/e', 'd/../x'), link('p/q/d', '../..')],
    names: '"p/q/e"',
  },
  { what: 'links in a ring', entries: [link('a', 'b'), link('b', 'a')], names: 'never ends' },
  { what: 'a file below a link', entries: [link('l', 'd'), { name: 'l/x', body: 'x' }], names: '"l/x"' },
  {
    what: 'a file below a link that comes later',
    entries: [{ name: 'l/x', body: 'x' }, link('l', 'd')],
    names: '"l"',
  },
  {
    what: 'a file below a file',
    entries: [
      { name: 'f', body: 'x' },
      { name: 'f/x', body: 'x' },
    ],
    names: '"f/x"',
  },
  { what: 'a file over a link', entries: [link('l', 'x'), { name: 'l', body: 'x' }], names: '"l"' },
  { what: 'a link over a file', entries: [{ name: 'l', body: 'x' }, link('l', 'x')], names: '"l"' },
  {
    what: 'a folder over a file',
    entries: [
      { name: 'l', body: 'x' },
      { name: 'l', type: 'directory' },
    ],
    names: '"l"',
  },
  { what: 'a hard link that leaves', entries: [hard('h', '../x')], names: '"h"' },
  { what: 'a hard link to an absolute path', entries: [hard('h', '/etc/passwd')], names: '"h"' },
  { what: 'a hard link to nothing', entries: [hard('h', 'nothing')], names: '"h"' },
  { what: 'a hard link to a link', entries: [link('l', 'x'), hard('h', 'l')], names: '"h"' },
  { what: 'a character device', entries: [{ name: 'dev', type: 'character-device' }], names: '"dev"' },
  { what: 'a block device', entries: [{ name: 'dev', type: 'block-device' }], names: '"dev"' },
  { what: 'a named pipe', entries: [{ name: 'pipe', type: 'fifo' }], names: '"pipe"' },
  { what: 'a nameless file', entries: [{ name: '.', body: 'x', type: 'file' }], names: '"."' },
];

describe('inspection and unpacking reject hostile archives alike', () => {
  test.each(HOSTILE)('$what', async ({ entries, names }) => {
    const bytes = await createTar([{ name: 'first', body: 'ok' }, ...entries]);
    for (const read of [() => inspectArchive(Readable.from([bytes])), () => unpack(bytes)]) {
      const error = await read().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(InvalidArchiveError);
      expect(String(error)).toContain(names);
    }
    // All files written before the rejection are inside.
    expect(folders.flatMap((folder) => readdirSync(folder)).sort()).not.toContain('x');
  });

  test('more than 20,000 entries', async () => {
    const bytes = await createTar(Array.from({ length: 20_001 }, (_, place) => ({ name: `f${place}` })));
    await expect(inspectArchive(Readable.from([bytes]))).rejects.toThrow('more than 20000 entries');
  });

  test('more than 2 GiB by the headers, rejected before the bytes are read', () => {
    const rules = new ArchiveValidator();
    rules.accept({ name: 'a', type: 'file', size: 2 ** 30 });
    rules.accept({ name: 'b', type: 'file', size: 2 ** 30 });
    expect(() => rules.accept({ name: 'c', type: 'file', size: 1 })).toThrow(
      '"c" is the entry that exceeds the limit',
    );
  });

  test('hard links count with the size of their target', () => {
    const rules = new ArchiveValidator();
    rules.accept({ name: 'a', type: 'file', size: 2 ** 30 });
    rules.accept({ name: 'b', type: 'link', linkname: 'a' });
    expect(() => rules.accept({ name: 'c', type: 'link', linkname: 'a' })).toThrow(InvalidArchiveError);
  });

  test('an endless stream of zeros', async () => {
    const member = gzipSync(Buffer.alloc(64 * 2 ** 20), { level: 1 });
    let sent = 0;
    const endless = Readable.from(
      (function* () {
        for (;;) {
          sent += 1;
          yield member;
        }
      })(),
    );
    await expect(inspectArchive(endless)).rejects.toThrow('unpacks to more than');
    // 2 GiB are 32 members; a few more may be in buffers.
    expect(sent).toBeLessThan(40);
  });

  test('rejects what is not gzip, not tar, empty or truncated', async () => {
    const good = await createTar([{ name: 'a', body: 'x'.repeat(100_000) }]);
    const inspect = async (bytes: Buffer): Promise<unknown> => await inspectArchive(Readable.from([bytes]));
    await expect(inspect(Buffer.from('plain text, nothing more'))).rejects.toThrow('not gzip');
    await expect(inspect(gzipSync(Buffer.alloc(2048, 'no tar')))).rejects.toThrow('no tar');
    await expect(inspect(gzipSync(''))).rejects.toThrow('empty');
    await expect(inspect(good.subarray(0, good.length - 20))).rejects.toThrow('truncated');
    await expect(inspect(gzipSync(tornTar()))).rejects.toThrow('truncated');
    await expect(inspect(Buffer.alloc(0))).rejects.toThrow(InvalidArchiveError);
  });
});

/** Returns the first 1.5 blocks of a tar: a header and a part of its content. */
function tornTar(): Buffer {
  const header = Buffer.alloc(512);
  header.write('a', 0);
  header.write('0000644\0', 100);
  header.write('00000007640\0', 124);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, Buffer.alloc(700, 'x')]);
}

describe('good archives', () => {
  const long = `${'ordner/'.repeat(30)}datei-mit-einem-langen-namen.txt`;
  const entries: TarEntry[] = [
    { name: './app.yaml', body: 'type: python\n', mode: 0o644 },
    { name: 'bin/run', body: '#!/bin/sh\n', mode: 0o755 },
    { name: 'データ/größe 🚚.csv', body: 'ü,1\n', mode: 0o644 },
    { name: long, body: 'long' },
    { name: 'empty', body: '', mode: 0o644 },
    { name: 'folder/', type: 'directory' },
    link('bin/alias', 'run'),
    link('up', 'bin/../empty'),
    hard('bin/same', 'bin/run'),
    { name: 'empty', body: 'second time', mode: 0o644 },
  ];

  test('inspection describes an archive', async () => {
    const bytes = await createTar(entries);
    const contents = await inspectArchive(Readable.from([bytes.subarray(0, 50), bytes.subarray(50)]));
    expect(contents).toMatchObject({
      hash: computeSha256(bytes),
      entries: 10,
      manifestText: 'type: python\n',
    });
    expect(contents.files).toContain('データ/größe 🚚.csv');
    expect(contents.files).toContain(long);
    expect(contents.files).not.toContain('folder');
  });

  test('unpacking restores the files', async () => {
    const folder = await unpack(await createTar(entries));
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    expect(read('データ/größe 🚚.csv')).toBe('ü,1\n');
    expect(read(long)).toBe('long');
    expect(read('empty')).toBe('second time');
    expect(read('up')).toBe('second time');
    expect(read('bin/alias')).toBe('#!/bin/sh\n');
    expect(read('bin/same')).toBe('#!/bin/sh\n');
    expect(statSync(join(folder, 'bin/run')).mode & 0o777).toBe(0o755);
    expect(statSync(join(folder, 'app.yaml')).mode & 0o777).toBe(0o644);
    expect(statSync(join(folder, 'folder')).isDirectory()).toBe(true);
  });

  test('a manifest that is too large is rejected; a missing one is absent', async () => {
    const large = await createTar([{ name: 'app.yaml', body: 'x'.repeat(1024 * 1024 + 1) }]);
    await expect(inspectArchive(Readable.from([large]))).rejects.toThrow('app.yaml has 1048577 bytes');
    const none = await inspectArchive(Readable.from([await createTar([{ name: 'a/app.yaml', body: 'x' }])]));
    expect(none.manifestText).toBeUndefined();
  });

  test('a file and a stream of chunks give the same result', async () => {
    const bytes = await createTar(entries);
    const path = join(freshFolder(), 'a.tar.gz');
    writeFileSync(path, bytes);
    expect((await inspectArchive(createReadStream(path, { highWaterMark: 7 }))).hash).toBe(
      computeSha256(bytes),
    );
  });

  test('file systems that fold case treat equal folded names as one name', () => {
    const rules = new ArchiveValidator(true);
    rules.accept({ name: 'Link', type: 'symlink', linkname: 'x' });
    expect(() => rules.accept({ name: 'link', type: 'file', size: 0 })).toThrow('twice');
  });
});
