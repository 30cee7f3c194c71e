/** Assets of outputs and of files: listing, download, validation and deletion. */
import { parseAssets } from '@switchyard/worker/results/parse-assets.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunAndWait, nodeApp, packFiles, pushApp } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus, uploadContent } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await pushApp(
    server,
    'app',
    nodeApp(`(input) => {
      if (input.fail) { console.log(JSON.stringify({ assets: input.assets })); process.exit(3); }
      return { solution: [], assets: input.assets };
    }`),
  );
});
afterAll(() => server.close());

const VISUAL = { schema: 'plotly', label: 'Load', type: 'custom-tab', of_my_own: [1, { deep: null }] };

interface ListedAsset {
  id: string;
  name: string;
  size: number;
}

const getRunPath = (run: string, rest = '', application = 'app') =>
  server.request('GET', `/v1/applications/${application}/runs/${run}${rest}`);

async function listAssets(run: string, application = 'app'): Promise<ListedAsset[]> {
  const response = await getRunPath(run, '/assets', application);
  expectStatus(response, 200);
  return (response.body as { items: ListedAsset[] }).items;
}

async function download(run: string, asset: string, application = 'app'): Promise<string> {
  const { body } = await getRunPath(run, `/assets/${asset}`, application);
  const downloaded = await fetch((body as { download_url: string }).download_url);
  expect(downloaded.status).toBe(200);
  expect(downloaded.headers.get('content-type')).toBe('application/json');
  return downloaded.text();
}

const createRunWithAssets = (assets: unknown) =>
  createRunAndWait(server, 'app', { body: { input: { assets } } });
const countContents = async (): Promise<number> => {
  const { rows } = await sql<{ n: number }>`select count(*) as n from contents`.execute(
    server.runningServer.database.read,
  );
  return Number(rows[0]?.n);
};

describe('assets of an output', () => {
  test('B6: are listed in pages on request', async () => {
    const names = ['a', 'b', 'c'];
    const run = await createRunWithAssets(names.map((name) => ({ name, content: name })));
    const first = await getRunPath(run.id, '/assets?pagereturn=true&limit=2');
    const { items, next_page_token } = first.body as { items: ListedAsset[]; next_page_token: string };
    const second = await getRunPath(run.id, `/assets?pagereturn=true&limit=2&pagetoken=${next_page_token}`);
    const last = second.body as { items: ListedAsset[]; next_page_token?: string };
    expect([...items, ...last.items].map((item) => item.name)).toEqual(names);
    expect(last.next_page_token).toBeUndefined();
  });

  test('are listed in their order with unchanged visuals, and downloaded without a token', async () => {
    const run = await createRunWithAssets([
      {
        name: 'Load',
        content: { data: [1, 2.5, 'ü'] },
        content_type: 'json',
        description: 'per truck',
        visual: VISUAL,
      },
      { name: 'Load', content: 'only text' },
      { name: 'Nothing', content: null, visual: null, description: null },
    ]);
    const items = await listAssets(run.id);
    const first = JSON.stringify({ data: [1, 2.5, 'ü'] });
    expect(items).toEqual([
      {
        id: expect.any(String),
        run_id: run.id,
        name: 'Load',
        description: 'per truck',
        content_type: 'json',
        size: Buffer.byteLength(first),
        created_at: expect.stringMatching(/Z$/),
        visual: VISUAL,
      },
      expect.objectContaining({ name: 'Load', description: '', size: '"only text"'.length }),
      expect.objectContaining({ name: 'Nothing', size: 'null'.length }),
    ]);
    expect(items[1]).not.toHaveProperty('visual');
    expect(new Set(items.map((item) => item.id)).size).toBe(3);
    expect(await Promise.all(items.map((item) => download(run.id, item.id)))).toEqual([
      first,
      '"only text"',
      'null',
    ]);
    const one = await getRunPath(run.id, `/assets/${items[0]?.id}`);
    expect(one.body).toMatchObject({
      ...items[0],
      type: 'json',
      download_url: expect.stringContaining('http'),
    });
    expect((run as { metadata?: object }).metadata).not.toHaveProperty('assets_error');
  });

  test('may be larger than a content in the database', async () => {
    const large = 'x'.repeat(3 * 1024 * 1024);
    const run = await createRunWithAssets([
      { name: 'large', content: large },
      { name: 'small', content: 1 },
    ]);
    const items = await listAssets(run.id);
    expect(items.map((item) => item.size)).toEqual([large.length + 2, 1]);
    expect(await download(run.id, items[0]?.id ?? '')).toBe(JSON.stringify(large));
  });

  test('that do not conform are omitted, and the metadata says why', async () => {
    const run = await createRunWithAssets([
      { name: 'good', content: 1 },
      { content: 2 },
      { name: 'also', content: 3 },
    ]);
    expect(run).toMatchObject({
      status_v2: 'succeeded',
      metadata: { assets_error: expect.stringContaining('assets[1].name') },
    });
    expect((await listAssets(run.id)).map((item) => item.name)).toEqual(['good', 'also']);
  });

  test('of a failed run are discarded, as its output is', async () => {
    const run = await createRunAndWait(server, 'app', {
      body: { input: { fail: true, assets: [{ name: 'a', content: 1 }] } },
    });
    expect(run).toMatchObject({ status_v2: 'failed' });
    expect(await listAssets(run.id)).toEqual([]);
  });

  test('are deleted with their run, contents included', async () => {
    const before = await countContents();
    const run = await createRunWithAssets([
      { name: 'a', content: 'x'.repeat(200_000) },
      { name: 'b', content: 1 },
    ]);
    const [asset] = await listAssets(run.id);
    expect(await countContents()).toBeGreaterThan(before);
    expectStatus(await server.request('DELETE', `/v1/applications/app/runs/${run.id}`), 204);
    expectError(await getRunPath(run.id, '/assets'), 404);
    expectError(await getRunPath(run.id, `/assets/${asset?.id}`), 404);
    expect(await countContents()).toBe(before);
    const orphans = await sql`select * from assets where run_id = ${run.id}`.execute(
      server.runningServer.database.read,
    );
    expect(orphans.rows).toEqual([]);
  });

  test('are not available under another run', async () => {
    const [one, other] = [
      await createRunWithAssets([{ name: 'a', content: 1 }]),
      await createRunWithAssets([]),
    ];
    const [asset] = await listAssets(one.id);
    expectError(await getRunPath(other.id, `/assets/${asset?.id}`), 404, asset?.id ?? '');
    expectError(await getRunPath(one.id, '/assets/none'), 404, 'none');
  });
});

test('the assets of a multi-file app are read from its file', async () => {
  const io_configuration = { format: 'multi-file' } as const;
  const source = `
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
for (const folder of ['outputs/assets', 'outputs/solutions']) mkdirSync(folder, { recursive: true });
writeFileSync('outputs/solutions/plan.txt', 'the plan');
writeFileSync('outputs/assets/assets.json', readFileSync('inputs/assets.json'));
`;
  await pushApp(server, 'files', { 'main.mjs': source }, { io_configuration });
  const runFiles = async (assets: string) => {
    const archive = await packFiles({ 'assets.json': assets });
    const { run_id } = (
      await server.client.call('createRun', {
        params: { application_id: 'files' },
        body: { upload_id: await uploadContent(server, 'files', archive) },
      })
    ).body;
    return server.waitUntil('runs-ended', async () => {
      const { body } = await getRunPath(run_id, '/metadata', 'files');
      return (body as { status_v2: string }).status_v2 === 'succeeded' ? (body as { id: string }) : null;
    });
  };
  const run = await runFiles(
    JSON.stringify({ assets: [{ name: 'map', content: { a: 1 }, visual: VISUAL }] }),
  );
  const items = await listAssets(run.id, 'files');
  expect(items).toMatchObject([{ name: 'map', size: 7, visual: VISUAL }]);
  expect(await download(run.id, items[0]?.id ?? '', 'files')).toBe('{"a":1}');

  const broken = await runFiles('{"assets": [');
  expect(broken).toMatchObject({ metadata: { assets_error: expect.stringContaining('assets file') } });
  expect(await listAssets(broken.id, 'files')).toEqual([]);
});

describe('parseAssets', () => {
  test.each([undefined, null, {}, []])('returns no asset and no error for %j', (value) => {
    expect(parseAssets(value)).toEqual({ assets: [], error: '' });
  });

  test.each([
    ['words', 'assets is not a list'],
    [{ map: {} }, 'assets is not a list'],
    [[1], 'assets[0] is not an object'],
    [[{ content: 1 }], 'assets[0].name is missing'],
    [[{ name: 'a', content: 1, description: 'x'.repeat(1025) }], 'assets[0].description is 1025'],
    [[{ name: 'a', content: 1, visual: { label: 'x'.repeat(16_384) } }], 'assets[0].visual is 16396'],
    [[{ name: '', content: 1 }], 'assets[0].name'],
    [[{ name: 'n'.repeat(257), content: 1 }], '257'],
    [[{ name: 'n' }], 'assets[0].content is missing'],
    [[{ name: 'n', content: 1, content_type: 'csv' }], '"csv"'],
    [[{ name: 'n', content: 1, visual: 'chart' }], 'visual'],
  ])('returns an error for %j: %s', (value, message) => {
    const read = parseAssets(value);
    expect(read.assets).toEqual([]);
    expect(read.error).toContain(message);
  });

  test('returns the first 1000 assets', () => {
    const read = parseAssets(
      Array.from({ length: 1001 }, (_, index) => ({ name: `a${index}`, content: index })),
    );
    expect(read.assets).toHaveLength(1000);
    expect(read.error).toContain('1001');
  });

  test('replaces a NUL in a name, which no text column can store', () => {
    expect(parseAssets([{ name: 'a\0b', content: 'c\0' }]).assets).toMatchObject([
      { name: 'a\u{fffd}b', content: JSON.stringify('c\0') },
    ]);
  });
});
