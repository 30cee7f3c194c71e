/** The files of executables, through HTTP. */
import { createHash } from 'node:crypto';
import type { ExecutableFile } from '@switchyard/contract/applications/executables.ts';
import { FILE_TEXT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packEntries, packFiles, pushApp, pushArchive } from '../../testing/fixtures/apps.ts';
import { createApplication, expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const MANIFEST = 'type: binary\nruntime: native\nfiles: ["**"]\n';
const LARGE = Buffer.alloc(FILE_TEXT_BYTES_MAX + 1, 'a');
const FILES = {
  'app.yaml': MANIFEST,
  main: '#!/bin/sh\necho "{}"\n',
  'data/größe.txt': 'ä 🚚\n',
  'data/picture.bin': Buffer.from([0, 1, 2]),
  'data/latin.txt': Buffer.from([0xe4]),
  'large.txt': LARGE,
};
const hash = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

let server: TestServer;
let path: string;
beforeAll(async () => {
  server = await startTestServer();
  path = await push(await createApplication(server), await packFiles(FILES));
});
afterAll(() => server.close());

/** Pushes the archive, and returns the path of its files. */
async function push(application: string, archive: Buffer): Promise<string> {
  const requirements = { executable_type: 'binary', runtime: 'native' };
  expectStatus(await pushArchive(server, application, archive, { requirements }), 200);
  return findPath(application);
}
async function findPath(application: string): Promise<string> {
  const params = { application_id: application };
  const { body } = await server.client.call('getApplication', { params });
  return `/v1/applications/${application}/executables/${body.active_executable?.id}/files`;
}
const get = (at: string, token?: string) => server.request('GET', at, token ? { token } : {});
const list = async (at: string): Promise<ExecutableFile[]> => {
  const response = await get(at);
  expectStatus(response, 200);
  return (response.body as { files: ExecutableFile[] }).files;
};

describe('the files of an executable', () => {
  test('are listed by path, with size, hash and executable bit', async () => {
    const files = await list(path);
    expect(files.map((file) => file.path)).toEqual(Object.keys(FILES).sort());
    expect(files.find((file) => file.path === 'main')).toEqual({
      path: 'main',
      kind: 'file',
      size: Buffer.byteLength(FILES.main),
      executable: true,
      sha256: hash(FILES.main),
      target: null,
    });
  });

  test('are read as text by their hash; binary and large ones say why they have none', async () => {
    const read = async (content: string | Buffer) => (await get(`${path}/${hash(content)}`)).body;
    expect(await read(FILES['data/größe.txt'])).toEqual({
      path: 'data/größe.txt',
      size: Buffer.byteLength(FILES['data/größe.txt']),
      text: FILES['data/größe.txt'],
    });
    for (const content of [FILES['data/picture.bin'], FILES['data/latin.txt']])
      expect(await read(content)).toMatchObject({ text: null, omitted: 'binary' });
    expect(await read(LARGE)).toEqual({
      path: 'large.txt',
      size: LARGE.length,
      text: null,
      omitted: 'large',
    });
  });

  test('have links with their targets, and the last of two entries with one path', async () => {
    const entries = [
      { name: 'app.yaml', content: MANIFEST },
      { name: 'main', content: 'old' },
      { name: 'main', content: 'new' },
      { name: 'link', type: 'symlink' as const, linkname: 'main' },
    ];
    const files = await list(await push(await createApplication(server), await packEntries(entries)));
    expect(files.map(({ path: name, kind, sha256, target }) => [name, kind, sha256, target])).toEqual([
      ['app.yaml', 'file', hash(MANIFEST), null],
      ['link', 'link', null, 'main'],
      ['main', 'file', hash('new'), null],
    ]);
  });

  test('are a 404 for an unknown hash, executable and application', async () => {
    const other = await createApplication(server);
    expectError(await get(`${path}/${hash('nothing')}`), 404, hash('nothing'));
    expectError(await get(`${path}/..%2Fmain`), 404, '../main');
    expectError(await get(path.replace(/exe-[^/]+/, 'exe-missing')), 404, 'exe-missing');
    expectError(await get(path.replace(/applications\/[^/]+/, `applications/${other}`)), 404, other);
  });

  test('are refused to roles that may not push', async () => {
    const { token } = await server.createKey('operator');
    expectStatus(await get(path, token), 403);
    expectStatus(await get(`${path}/${hash(FILES.main)}`, token), 403);
  });

  test('include no text of a manifest with options that are hidden from the role', async () => {
    const items = [{ name: 'secret', ui: { hidden_from: ['developer' as const] } }];
    await pushApp(server, 'hiding', { main: FILES.main }, { executable_type: 'binary', options: { items } });
    const files = await findPath('hiding');
    const manifest = (await list(files)).find((file) => file.path === 'app.yaml');
    const { token } = await server.createKey('developer');
    const address = `${files}/${manifest?.sha256}`;
    expect((await get(address, token)).body).toMatchObject({ text: null, omitted: 'hidden' });
    expect((await get(address)).body).toMatchObject({ text: expect.stringContaining('type:') });
  });
});
