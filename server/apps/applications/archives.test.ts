/** Refused archives: the error names the entry, and the application does not change. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../platform/clock.ts';
import {
  type ArchiveEntry,
  createRunAndWait,
  nodeApp,
  packEntries,
  packFiles,
  pushArchive,
} from '../../testing/fixtures/apps.ts';
import { createApplication, expectError, expectStatus, MANIFEST } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { parseManifest } from './parse-manifest.ts';

let server: TestServer;
let application: string;
let validArchive: Buffer;
beforeAll(async () => {
  server = await startTestServer();
  application = await createApplication(server);
  validArchive = await packFiles({ 'app.yaml': MANIFEST, ...nodeApp('() => ({ answer: "good" })') });
  expectStatus(await pushArchive(server, application, validArchive), 200);
});
afterAll(() => server.close());

const state = async () => (await server.request('GET', `/v1/applications/${application}`)).body;
const manifest: ArchiveEntry = { name: 'app.yaml', content: MANIFEST };
const packArchive = (...entries: ArchiveEntry[]) => packEntries([manifest, ...entries]);
const symlinkEntry = (name: string, linkname: string): ArchiveEntry => ({ name, type: 'symlink', linkname });

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
  ['an absolute path', () => packArchive({ name: '/etc/cron.d/x', content: 'x' }), '"/etc/cron.d/x"'],
  ['a path with ..', () => packArchive({ name: 'a/../../x', content: 'x' }), '"a/../../x"'],
  ['a link that leaves the root', () => packArchive(symlinkEntry('out', '../../etc/passwd')), '"out"'],
  ['an absolute link', () => packArchive(symlinkEntry('out', '/etc/passwd')), '"out"'],
  ['a file below a link', () => packArchive(symlinkEntry('d', '.'), { name: 'd/x', content: 'x' }), '"d/x"'],
  [
    'a hard link that leaves the root',
    () => packArchive({ name: 'hard', type: 'link', linkname: '../../etc/passwd' }),
    '"hard"',
  ],
  [
    'a device',
    () => packArchive({ name: 'null', type: 'character-device', devmajor: 1, devminor: 3 }),
    '"null"',
  ],
  ['a pipe', () => packArchive({ name: 'pipe', type: 'fifo' }), '"pipe"'],
  [
    'more than 20,000 entries',
    () => packArchive(...Array.from({ length: 20_000 }, (_, index) => ({ name: `f${index}`, content: '' }))),
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
  ['a tar that is not compressed', async () => gunzipSync(validArchive), 'gzip'],
  ['an archive that was cut off', async () => validArchive.subarray(0, validArchive.length - 30), ''],
  ['an archive with rubbish in its middle', async () => invertBytes(validArchive), ''],
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
    'a list of 110,000 items',
    () => withManifest(`configuration: {options: {format: [${'1, '.repeat(110_000)}]}}`),
    'app.yaml has more than 100,000 values',
  ],
  [
    'a content format that is none',
    () => withManifest('configuration: {content: {format: xml}}'),
    'configuration.content.format is \\"xml\\"',
  ],
  [
    'an entrypoint too long',
    () => withManifest(`execution: {entrypoint: ${'x'.repeat(1025)}}`),
    '1025 characters long',
  ],
];

/** Returns a copy of the archive with 40 inverted bytes. */
function invertBytes(bytes: Buffer): Buffer {
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
    // The size in the header is enough for the refusal, so the archive has no content.
    const header = tarHeader('bomb', 3 * 1024 ** 3);
    const response = await pushArchive(server, application, gzipSync(header));
    expectError(response, 400, '"bomb"');
    expect(await state()).toEqual(before);
  });
});

/** Returns the 512-byte header of a file in a tar archive. */
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

test('the active executable runs after all refusals, and the next valid archive replaces it', async () => {
  expect((await createRunAndWait(server, application)).output).toEqual({ answer: 'good' });
  const next = await packFiles({ 'app.yaml': MANIFEST, ...nodeApp('() => ({ answer: "next" })') });
  expectStatus(await pushArchive(server, application, next), 200);
  expect((await createRunAndWait(server, application)).output).toEqual({ answer: 'next' });
});

test('links that stay inside the archive are accepted', async () => {
  const id = await createApplication(server);
  const bytes = await packArchive(
    { name: 'lib/real.mjs', content: 'process.stdout.write(JSON.stringify({ linked: true }));' },
    symlinkEntry('main.mjs', 'lib/real.mjs'),
  );
  expectStatus(await pushArchive(server, id, bytes), 200);
});

test('parsing of a manifest with quadratic cost is aborted and blocks no other request', async () => {
  const text = Array.from({ length: 100_000 }, (_, index) => `k${index}: 1`).join('\n');
  const shortTimeout: Clock = { ...systemClock, after: (_, callback) => systemClock.after(100, callback) };
  const reading = parseManifest(text, shortTimeout);
  expectStatus(await server.request('GET', '/healthz'), 200);
  expect(await reading).toEqual({ error: expect.stringContaining('too much time or memory') });
});
