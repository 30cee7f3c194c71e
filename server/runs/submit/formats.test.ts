/** Apps that read and write files, and apps in other languages, from push to result. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunAndWait, type Files, packFiles, pushApp } from '../../testing/fixtures/apps.ts';
import { uploadContent } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** Runs the application on the files and returns the metadata of the succeeded run. */
async function runOnFiles(application: string, files: Files) {
  const params = { application_id: application };
  const body = { upload_id: await uploadContent(server, application, await packFiles(files)) };
  const { run_id } = (await server.client.call('createRun', { params, body })).body;
  return server.waitUntil('runs-ended', async () => {
    const response = await server.client.call('getRunMetadata', { params: { ...params, run_id } });
    return response.body.status_v2 === 'succeeded' ? response.body : null;
  });
}

/** Downloads an archive and returns its files. */
async function download(url: string): Promise<Files> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/gzip');
  const files: Files = {};
  const reader = extract();
  reader.on('entry', (header, stream, next) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk) => chunks.push(chunk as Buffer));
    stream.on('end', () => {
      if (header.type === 'file') files[header.name] = Buffer.concat(chunks).toString();
      next();
    });
  });
  await pipeline(Readable.from([Buffer.from(await response.arrayBuffer())]), createGunzip(), reader);
  return files;
}

const getRunPath = (application: string, run: string, rest: string) =>
  server.request('GET', `/v1/applications/${application}/runs/${run}${rest}`);

async function getDownloadUrl(
  application: string,
  run: string,
  content: 'input' | 'output',
): Promise<string> {
  const { body } = await getRunPath(application, run, `/${content}?format=url`);
  const response = body as { url?: string; output?: { url: string } };
  return response.url ?? response.output?.url ?? '';
}

describe('a multi-file app', () => {
  beforeAll(() =>
    pushApp(
      server,
      'files',
      {
        'main.mjs': `
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
console.log('to stdout');
console.error('to stderr');
const names = readdirSync('inputs').sort();
for (const folder of ['outputs/solutions/deep', 'outputs/statistics', 'outputs/metrics']) mkdirSync(folder, { recursive: true });
for (const name of names) writeFileSync('outputs/solutions/deep/' + name, readFileSync('inputs/' + name, 'utf8').toUpperCase());
writeFileSync('outputs/statistics/statistics.json', JSON.stringify({ statistics: { schema: 'v1', result: { value: names.length } } }));
writeFileSync('outputs/metrics/metrics.json', JSON.stringify({ metrics: { cost: 2 } }));
if (process.argv.includes('-fail')) process.exit(2);
`,
      },
      { io_configuration: { format: 'multi-file' } },
    ),
  );

  test('reads and writes files; its log has both streams, and its statistics and metrics are read', async () => {
    const files = { 'a.csv': 'x,y\n', 'b.txt': 'hello' };
    const information = await runOnFiles('files', files);
    const { id } = information;
    expect(information.statistics).toMatchObject({
      status: 'success',
      indicators: [
        { name: 'result.value', value: 2 },
        { name: 'cost', value: 2, source: 'metrics' },
      ],
    });
    expect(information.metadata).toMatchObject({
      format: { input: { type: 'multi-file' }, output: { type: 'multi-file' } },
      metrics: { cost: 2 },
    });
    expect(await download(await getDownloadUrl('files', id, 'output'))).toEqual({
      'deep/a.csv': 'X,Y\n',
      'deep/b.txt': 'HELLO',
    });
    expect(await download(await getDownloadUrl('files', id, 'input'))).toMatchObject(files);
    const { log } = (await getRunPath('files', id, '/logs')).body as { log: string };
    expect(log.split('\n').sort()).toEqual(['', 'to stderr', 'to stdout']);
    for (const rest of ['', '/output', '/input']) {
      const refused = await getRunPath('files', id, rest);
      expect(refused.status).toBe(400);
      expect((refused.body as { error: string }).error).toContain('format=url');
    }
  });

  test('that fails has a log and no output', async () => {
    const run = await createRunAndWait(server, 'files', {
      body: {
        upload_id: await uploadContent(server, 'files', await packFiles({ a: '1' })),
        options: { fail: 'yes' },
      },
    });
    expect(run).toMatchObject({ status_v2: 'failed', output_size: 0 });
    expect(run.error).toContain('exit code 2');
    expect(run.error_log?.stderr).toContain('to stderr');
  });

  test('cannot have its input in the request', async () => {
    const response = await server.request('POST', '/v1/applications/files/runs', { body: { input: {} } });
    expect(response.status).toBe(400);
    expect((response.body as { error: string }).error).toContain('upload');
  });
});

test('a csv-archive app reads and writes tables, and prints its statistics', async () => {
  await pushApp(
    server,
    'csv',
    {
      'main.mjs': `
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
mkdirSync('output', { recursive: true });
writeFileSync('output/plan.csv', readFileSync('input/stops.csv', 'utf8').split('\\n').reverse().join('\\n'));
console.log(JSON.stringify({ options: {}, statistics: { schema: 'v1', result: { value: 5 } } }));
`,
    },
    { io_configuration: { format: 'csv-archive' } },
  );
  const metadata = await runOnFiles('csv', { 'stops.csv': 'a\nb\nc' });
  expect(metadata.statistics.indicators).toEqual([{ name: 'result.value', value: 5 }]);
  expect(await download(await getDownloadUrl('csv', metadata.id, 'output'))).toEqual({
    'plan.csv': 'c\nb\na',
  });
});

test.each([
  ['csv-archive', 'output/plan.csv'],
  ['multi-file', 'outputs/solutions/plan.csv'],
] as const)(
  'an app without a format in its manifest reads JSON and writes a %s, as the run requests',
  async (type, path) => {
    await pushApp(server, 'mixed', {
      'main.mjs': `
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
const input = JSON.parse(readFileSync(0, 'utf8'));
mkdirSync(dirname('${path}'), { recursive: true });
writeFileSync('${path}', input.words.join(','));
`,
    });
    const format = { input: { type: 'json' }, output: { type } } as const;
    const { run_id } = (
      await server.client.call('createRun', {
        params: { application_id: 'mixed' },
        body: { input: { words: ['a', 'b'] }, configuration: { format } },
      })
    ).body;
    const metadata = await server.waitUntil('runs-ended', async () => {
      const { body } = await getRunPath('mixed', run_id, '/metadata');
      return (body as { status_v2: string }).status_v2 === 'succeeded' ? body : null;
    });
    expect(metadata).toMatchObject({ metadata: { format } });
    expect(await download(await getDownloadUrl('mixed', run_id, 'output'))).toEqual({ 'plan.csv': 'a,b' });
  },
);

test('an app without a format in its manifest reads files and prints JSON, as the run requests', async () => {
  await pushApp(server, 'mixed-back', {
    'main.mjs': `
import { readFileSync } from 'node:fs';
console.log(JSON.stringify({ rows: readFileSync('input/rows.csv', 'utf8').split('\\n').length }));
`,
  });
  const run = await createRunAndWait(server, 'mixed-back', {
    body: {
      upload_id: await uploadContent(server, 'mixed-back', await packFiles({ 'rows.csv': '1\n2\n3' })),
      configuration: { format: { input: { type: 'csv-archive' }, output: { type: 'json' } } },
    },
  });
  expect(run).toMatchObject({ status_v2: 'succeeded', output: { rows: 3 } });
});

test('a Python app receives its options', async ({ skip }) => {
  const { body } = await server.client.call('getReadiness', {});
  if (!body.runtimes.python?.available) return skip('This machine has no Python 3.');
  await pushApp(
    server,
    'python',
    {
      'main.py': `
import json, sys
data = json.load(sys.stdin)
print("from python", file=sys.stderr)
json.dump({"sum": sum(data["numbers"]), "arguments": sys.argv[1:]}, sys.stdout)
`,
    },
    { executable_type: 'python', runtime: 'python:3.11' },
  );
  const run = await createRunAndWait(server, 'python', {
    input: { numbers: [1, 2.5] },
    body: { options: { limit: 3 } },
  });
  expect(run).toMatchObject({
    status_v2: 'succeeded',
    output: { sum: 3.5, arguments: ['-limit', '3'] },
    runtime: 'python:3.11',
  });
});

test('a binary app can be a script that the host executes', async () => {
  await pushApp(
    server,
    'binary',
    {
      main: '#!/bin/sh\necho "reads $(wc -c) bytes" >&2\nprintf \'{"app":"%s","run":"%s"}\' "$NEXTMV_APP_ID" "$NEXTMV_RUN_ID"\n',
    },
    { executable_type: 'binary', runtime: 'shell' },
  );
  const run = await createRunAndWait(server, 'binary', { input: [1, 2] });
  expect(run.output).toEqual({ app: 'binary', run: run.id });
  expect((await getRunPath('binary', run.id, '/logs')).body).toEqual({ log: 'reads 5 bytes\n' });
});
