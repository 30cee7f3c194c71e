/** Archives that are refused: whole, with the entry named, and with everything as it was. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../clock.ts';
import {
  type ArchiveEntry,
  createRunAndWait,
  nodeApp,
  packEntries,
  packFiles,
  pushArchive,
} from '../testing/fixtures/apps.ts';
import { createApplication, expectError, expectStatus, MANIFEST } from '../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../testing/servers/test-server.ts';
import { readManifest } from './read-manifest.ts';

let server: TestServer;
let application: string;
let good: Buffer;
beforeAll(async () => {
  server = await startTestServer();
  application = await createApplication(server);
  good = await packFiles({ 'app.yaml': MANIFEST, ...nodeApp('() => ({ answer: "good" })') });
  expectStatus(await pushArchive(server, application, good), 200);
});
afterAll(() => server.close());

const state = async () => (await server.request('GET', `/v1/applications/${application}`)).body;
const manifest: ArchiveEntry = { name: 'app.yaml', content: MANIFEST };
const archive = (...entries: ArchiveEntry[]) => packEntries([manifest, ...entries]);
const link = (name: string, linkname: string): ArchiveEntry => ({ name, type: 'symlink', linkname });

const BILLION_LAUGHS = `a: &a [x, x, x, x, x, x, x, x, x]
${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
  .map((name, index) => {
    const before = String.fromCharCode(97 + index);
    return `${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`;
  })
  .join('\n')}
configuration: {options: {items: [{name: x, default: *i}]}}
`;
const WIDE_ALIASES = `long: &long "${'x'.repeat(50_000)}"
configuration: {options: {items: [{name: x, default: [${Array(90).fill('*long').join(', ')}]}]}}
`;
const withManifest = (content: string) => packFiles({ 'app.yaml': content });

const HOSTILE: [string, () => Promise<Buffer>, string][] = [
  ['an absolute path', () => archive({ name: '/etc/cron.d/x', content: 'x' }), '"/etc/cron.d/x"'],
  ['a path with ..', () => archive({ name: 'a/../../x', content: 'x' }), '"a/../../x"'],
  ['a link that leaves the root', () => archive(link('out', '../../etc/passwd')), '"out"'],
  ['an absolute link', () => archive(link('out', '/etc/passwd')), '"out"'],
  ['a file below a link', () => archive(link('d', '.'), { name: 'd/x', content: 'x' }), '"d/x"'],
  [
    'a hard link that leaves the root',
    () => archive({ name: 'hard', type: 'link', linkname: '../../etc/passwd' }),
    '"hard"',
  ],
  ['a device', () => archive({ name: 'null', type: 'character-device', devmajor: 1, devminor: 3 }), '"null"'],
  ['a pipe', () => archive({ name: 'pipe', type: 'fifo' }), '"pipe"'],
  [
    'more than 20,000 entries',
    () => archive(...Array.from({ length: 20_000 }, (_, index) => ({ name: `f${index}`, content: '' }))),
    'more than 20000 entries',
  ],
  ['no manifest', () => packEntries([{ name: 'main.mjs', content: '1' }]), 'no app.yaml at its root'],
  [
    'a manifest that is not at the root',
    () => packEntries([{ name: 'app/app.yaml', content: MANIFEST }]),
    'no app.yaml at its root',
  ],
  ['bytes that are no gzip', async () => Buffer.from('hello, this is no archive'), 'gzip'],
  ['no bytes at all', async () => Buffer.alloc(0), ''],
  ['gzip of what is no tar', async () => gzipSync(Buffer.from('hello '.repeat(500))), ''],
  ['a tar that is not compressed', async () => gunzipSync(good), 'gzip'],
  ['an archive that was cut off', async () => good.subarray(0, good.length - 30), ''],
  ['an archive with rubbish in its middle', async () => rubbish(good), ''],
  ['a manifest that is no YAML', () => withManifest('type: [node'), 'app.yaml is not valid YAML'],
  ['a manifest that is a list', () => withManifest('- type: node'), 'app.yaml must be a map'],
  ['an empty manifest', () => withManifest(''), 'app.yaml must be a map'],
  ['a manifest of aliases of aliases', () => withManifest(BILLION_LAUGHS), 'app.yaml is not valid YAML'],
  ['a manifest of many aliases of a long text', () => withManifest(WIDE_ALIASES), 'longer than'],
  [
    'a manifest nested very deep',
    () =>
      withManifest(
        `configuration: {options: {items: [{name: x, default: ${'['.repeat(200)}${']'.repeat(200)}}]}}`,
      ),
    'nested deeper',
  ],
  [
    'a manifest nested deeper than it can be read',
    () => withManifest(`a: ${'['.repeat(20_000)}${']'.repeat(20_000)}`),
    'app.yaml',
  ],
  [
    'an option without a name',
    () => withManifest('configuration: {options: {items: [{type: int}]}}'),
    'options.items.0.name is missing',
  ],
  [
    'an option hidden from a role that is none',
    () => withManifest('configuration: {options: {items: [{name: a, ui: {hidden_from: [king]}}]}}'),
    'hidden_from.0 is \\"king\\"',
  ],
  [
    'a content format that is none',
    () => withManifest('configuration: {content: {format: xml}}'),
    'io_configuration.format is \\"xml\\"',
  ],
  [
    'an entrypoint too long',
    () => withManifest(`execution: {entrypoint: ${'x'.repeat(1025)}}`),
    '1025 characters long',
  ],
];

/** The same archive with bytes in the middle turned over. */
function rubbish(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let at = 60; at < 100; at += 1) copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}

describe('400 with nothing changed for', () => {
  test.each(HOSTILE)('%s', async (_, make, words) => {
    const before = await state();
    const response = await pushArchive(server, application, await make());
    expectError(response, 400);
    expect(response.text).toContain(words.startsWith('"') ? JSON.stringify(words).slice(1, -1) : words);
    expect(await state()).toEqual(before);
  });

  test('an archive that unpacks to more than 2 GiB, without unpacking it', async () => {
    const before = await state();
    // What a header says is believed before anything is read; the rest of the archive need not even be there.
    const header = tarHeader('bomb', 3 * 1024 ** 3);
    const response = await pushArchive(server, application, gzipSync(header));
    expectError(response, 400, '"bomb"');
    expect(await state()).toEqual(before);
  });
});

/** The 512 bytes that announce a file in a tar. */
function tarHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644', 100);
  header.write(size.toString(8).padStart(11, '0'), 124);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar', 257);
  header.write('00', 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

test('the executable that was active still runs after all that, and the next good one replaces it', async () => {
  expect((await createRunAndWait(server, application)).output).toEqual({ answer: 'good' });
  const next = await packFiles({ 'app.yaml': MANIFEST, ...nodeApp('() => ({ answer: "next" })') });
  expectStatus(await pushArchive(server, application, next), 200);
  expect((await createRunAndWait(server, application)).output).toEqual({ answer: 'next' });
});

test('links that stay inside are taken', async () => {
  const id = await createApplication(server);
  const bytes = await archive(
    { name: 'lib/real.mjs', content: 'process.stdout.write(JSON.stringify({ linked: true }));' },
    link('main.mjs', 'lib/real.mjs'),
  );
  expectStatus(await pushArchive(server, id, bytes), 200);
});

test('a manifest that takes the square of its length to read is given up, and nobody waits meanwhile', async () => {
  const text = Array.from({ length: 100_000 }, (_, index) => `k${index}: 1`).join('\n');
  const hasty: Clock = { ...systemClock, after: (_, callback) => systemClock.after(100, callback) };
  const reading = readManifest(text, hasty);
  expectStatus(await server.request('GET', '/healthz'), 200);
  expect(await reading).toEqual({ error: expect.stringContaining('too much time or memory') });
});
