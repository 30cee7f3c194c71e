/** Masking of secrets in logs and errors of runs, from the app to the response. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createRun,
  createRunAndWait,
  packFiles,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { createApplication, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const KEY = 'treasure-of-the-island';
const LINES = 'BEGIN KEY\nfirst "half"\nend\n';

/** Follows its input: writes to stderr and stdout, waits, exits with a code. */
const APP = {
  'main.mjs': `
    import { readFileSync } from 'node:fs';
    const input = JSON.parse(readFileSync(0, 'utf8'));
    const fillIn = (one) => one
      .replaceAll('@KEY', process.env.KEY)
      .replaceAll('@FILE', readFileSync('key.txt', 'utf8'))
      .replace(/@(\\d+)x/, (_, count) => 'x'.repeat(Number(count)));
    if (input.stderr) process.stderr.write(fillIn(input.stderr));
    if (input.stdout) process.stdout.write(fillIn(input.stdout));
    if (input.waits) await new Promise((resolve) => { process.on('SIGTERM', resolve); setInterval(() => {}, 1000); });
    process.exitCode = input.code ?? 0;
    if (input.waits) process.exit();
  `,
};

let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createApplication(server);
  await pushApp(server, application, APP);
  await createCollection('keys', KEY, LINES);
});
afterAll(() => server.close());

/** Creates a collection with the secrets that the app reads, and with a value too short for masking. */
async function createCollection(id: string, key: string, file: string): Promise<string> {
  const secrets = [
    { type: 'env', location: 'KEY', value: key },
    { type: 'file', location: 'key.txt', value: file },
    { type: 'env', location: 'SHORT', value: 'yes' },
  ];
  const body = { id, secrets };
  expectStatus(await server.request('POST', `/v1/applications/${application}/secrets`, { body }), 201);
  return id;
}
const useCollection = (secrets_collection_id: string) => ({ configuration: { secrets_collection_id } });
const withKeys = useCollection('keys');
const run = (input: object, body: Record<string, unknown> = withKeys) =>
  createRunAndWait(server, application, { input, body });
const buildPath = (id: string, rest: string): string => `/v1/applications/${application}/runs/${id}${rest}`;
const readLog = async (id: string): Promise<string> =>
  ((await server.request('GET', buildPath(id, '/logs'))).body as { log: string }).log;
async function readLiveLines(id: string): Promise<string[]> {
  const { body } = await server.request('GET', buildPath(id, '/logs/live'));
  return (body as { items: { log: string }[] }).items.map((item) => item.log);
}
/** Returns the texts of all responses about the run. */
async function readAllResponses(id: string): Promise<string> {
  const paths = ['', '/metadata', '/output', '/logs', '/logs/live'];
  const responses = await Promise.all(paths.map((path) => server.request('GET', buildPath(id, path))));
  return responses.map((response) => response.text).join('\n');
}

const STDERR = 'key @KEY, yes\nof the file: @FILE{"json":"first \\"half\\""}\n';
const MASKED = ['key ***, yes', 'of the file: ***', '***', 'end', '{"json":"***"}'];

describe('secrets show as stars', () => {
  test('in the log while the app runs and after it', async () => {
    const id = await createRun(server, application, {
      input: { stderr: STDERR, waits: true },
      body: withKeys,
    });
    await waitForLogLine(server, application, id, '{"json"');
    expect(await readLiveLines(id)).toEqual(MASKED);
    expectStatus(await server.request('PATCH', buildPath(id, '/cancel')), 204);
    const found = await waitForRunEnd(server, application, id);
    expect(found.status_v2).toBe('canceled');
    expect(await readLiveLines(id)).toEqual(MASKED);
    expect(await readLog(id)).toBe(`${MASKED.join('\n')}\n`);
    expect(found.error_log?.stderr).toBe(`${MASKED.join('\n')}\n`);
    expect(await readAllResponses(id)).not.toContain(KEY);
  });

  test('in a log of many pieces', async () => {
    const lines = 20_000;
    const found = await run({ stderr: `${'line with @KEY in it\n'.repeat(lines)}` });
    expect(found.status_v2).toBe('succeeded');
    expect(await readLog(found.id)).toBe('line with *** in it\n'.repeat(lines));
  });

  test('at the end of a truncated line', async () => {
    const found = await run({ stderr: '@65530x@KEY and more\nshort\n' });
    const [line, next] = await readLiveLines(found.id);
    expect(line).toBe(`${'x'.repeat(65_530)}*** [line cut after 64\u00a0KiB]`);
    expect(next).toBe('short');
    expect(await readLog(found.id)).toBe(`${'x'.repeat(65_530)}*** and more\nshort\n`);
  });

  test('in the output of a failed run', async () => {
    const found = await run({ stdout: '{"key":"@KEY"}', stderr: '@KEY\n', code: 3 });
    expect(found).toMatchObject({
      status_v2: 'failed',
      error: 'The app ended with exit code 3.',
      error_log: { stdout: '{"key":"***"}', stderr: '***\n' },
    });
    expect(await readAllResponses(found.id)).not.toContain(KEY);
  });

  test('in the tail of the output of a failed run, also when it starts within a value', async () => {
    // The tail of 64 KiB starts with the last 9 characters of the value.
    const found = await run({ stdout: `@100x@KEY${'y'.repeat(65_536 - 9)}`, code: 3 });
    expect(found.error_log?.stdout).toBe(`***${'y'.repeat(65_536 - 9)}`);
  });

  test.each([
    ['alone', '@KEY'],
    ['behind other text', 'the key is "@KEY" and that is that'],
    ['at the end of long text', '{"a": @30x@KEY'],
  ])('in the sentence about output that is not JSON, with the value %s', async (_where, stdout) => {
    const found = await run({ stdout });
    expect(found.status_v2).toBe('failed');
    expect(found.error).toContain('not JSON');
    expect(found.error_log?.error).toBe(found.error);
    const text = await readAllResponses(found.id);
    // The parser quotes parts of its input, which must be masked too.
    for (let at = 0; at + 6 <= KEY.length; at += 1) expect(text).not.toContain(KEY.slice(at, at + 6));
  });

  test('in the message about output of more than a megabyte, which a worker thread reads', async () => {
    const found = await run({ stdout: '{"a":"@1100000x", @KEY' });
    expect(found.status_v2).toBe('failed');
    expect(found.error).toContain('not JSON');
    expect(await readAllResponses(found.id)).not.toContain(KEY.slice(0, 6));
  });

  test('in both streams of an app that writes output files', async () => {
    const own = await createApplication(server);
    const main = `
      import { mkdirSync, writeFileSync } from 'node:fs';
      console.log('out', process.env.KEY);
      console.error('err', process.env.KEY);
      mkdirSync('outputs/statistics', { recursive: true });
      writeFileSync('outputs/statistics/statistics.json', '{' + process.env.KEY);
      process.exitCode = 3;
    `;
    await pushApp(server, own, { 'main.mjs': main }, { io_configuration: { format: 'multi-file' } });
    const secrets = { id: 'keys', secrets: [{ type: 'env', location: 'KEY', value: KEY }] };
    expectStatus(await server.request('POST', `/v1/applications/${own}/secrets`, { body: secrets }), 201);
    const { body } = await server.client.call('createRunUpload', { params: { application_id: own } });
    const archive = new Uint8Array(await packFiles({ 'a.txt': 'any' }));
    expect((await fetch(body.upload_url, { method: 'PUT', body: archive })).status).toBe(200);
    const found = await createRunAndWait(server, own, { body: { upload_id: body.upload_id, ...withKeys } });
    expect(found.status_v2).toBe('failed');
    expect(found.error_log?.stderr.split('\n').sort()).toEqual(['', 'err ***', 'out ***']);
    expect(found.error_log?.stdout).toBe('out ***\n');
    expect(found.statistics.error).toContain('not JSON');
    expect(JSON.stringify(found)).not.toContain(KEY.slice(0, 6));
  });

  test('in the message about statistics', async () => {
    const found = await run({ stdout: '{"statistics":{"schema":"@KEY"}}' });
    expect(found.statistics).toMatchObject({
      status: 'error',
      error: 'statistics.schema is "***"; it must be "v1".',
    });
  });
});

test('after a run neither the database nor a file of the server holds a value', async () => {
  // A unique value, because other apps in this file print theirs as output, which the server stores.
  const value = 'found-nowhere-at-all';
  const id = await createCollection('own', value, `${value} too`);
  const found = await run({ stderr: STDERR, stdout: '@KEY', code: 3 }, useCollection(id));
  expect(found).toMatchObject({ status_v2: 'failed', error_log: { stdout: '***' } });
  const listFilesWithValue = (): string[] =>
    readdirSync(server.dataFolder, { withFileTypes: true, recursive: true })
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name))
      .filter((path) => (existsSync(path) ? readFileSync(path) : Buffer.alloc(0)).includes(value));
  // The server removes the folder of the run, which contains the secrets, soon after its end.
  await expect.poll(listFilesWithValue).toEqual([]);
  const { rows } = await sql<{
    lines: string;
  }>`select lines from log_chunks where run_id = ${found.id}`.execute(server.runningServer.database.read);
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect(row.lines).not.toContain(value);
});

describe('not masked are', () => {
  test('the output, the statistics and the metrics of the app', async () => {
    const stdout =
      '{"key":"@KEY","statistics":{"schema":"v1","result":{"custom":{"key":"@KEY"}}},"metrics":{"key":"@KEY"}}';
    const found = await run({ stdout });
    expect(found).toMatchObject({
      status_v2: 'succeeded',
      output: { key: KEY },
      statistics: {
        indicators: [
          { name: 'result.custom.key', value: KEY },
          { name: 'key', value: KEY, source: 'metrics' },
        ],
      },
      metadata: { metrics: { key: KEY } },
    });
  });

  test('values of fewer than 4 characters, and logs of runs without secrets', async () => {
    const found = await run({ stderr: 'yes, end\n' });
    expect(await readLog(found.id)).toBe('yes, end\n');
    const other = await run({ stderr: `${KEY}\n` }, useCollection(await createCollection('nothing', '', '')));
    expect(await readLiveLines(other.id)).toEqual([KEY]);
    expect(await readLog(other.id)).toBe(`${KEY}\n`);
  });
});
