/** Values of secrets in what the platform writes about a run, from the app to the answer. */
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
} from '../testing/fixtures/apps.ts';
import { createApplication, expectStatus } from '../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../testing/servers/test-server.ts';

const KEY = 'treasure-of-the-island';
const LINES = 'BEGIN KEY\nfirst "half"\nend\n';

/** Does what its input says: writes to stderr and stdout, waits, ends with a code. */
const APP = {
  'main.mjs': `
    import { readFileSync } from 'node:fs';
    const given = JSON.parse(readFileSync(0, 'utf8'));
    const filled = (one) => one
      .replaceAll('@KEY', process.env.KEY)
      .replaceAll('@FILE', readFileSync('key.txt', 'utf8'))
      .replace(/@(\\d+)x/, (_, count) => 'x'.repeat(Number(count)));
    if (given.stderr) process.stderr.write(filled(given.stderr));
    if (given.stdout) process.stdout.write(filled(given.stdout));
    if (given.waits) await new Promise((resolve) => { process.on('SIGTERM', resolve); setInterval(() => {}, 1000); });
    process.exitCode = given.code ?? 0;
    if (given.waits) process.exit();
  `,
};

let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createApplication(server);
  await pushApp(server, application, APP);
  await collection('keys', KEY, LINES);
});
afterAll(() => server.close());

/** A collection with what the app reads, and a value too short to be hidden. */
async function collection(id: string, key: string, file: string): Promise<string> {
  const secrets = [
    { type: 'env', location: 'KEY', value: key },
    { type: 'file', location: 'key.txt', value: file },
    { type: 'env', location: 'SHORT', value: 'yes' },
  ];
  const body = { id, secrets };
  expectStatus(await server.request('POST', `/v1/applications/${application}/secrets`, { body }), 201);
  return id;
}
const named = (secrets_collection_id: string) => ({ configuration: { secrets_collection_id } });
const withKeys = named('keys');
const run = (input: object, body: Record<string, unknown> = withKeys) =>
  createRunAndWait(server, application, { input, body });
const pathOf = (id: string, rest: string): string => `/v1/applications/${application}/runs/${id}${rest}`;
const logOf = async (id: string): Promise<string> =>
  ((await server.request('GET', pathOf(id, '/logs'))).body as { log: string }).log;
async function liveOf(id: string): Promise<string[]> {
  const { body } = await server.request('GET', pathOf(id, '/logs/live'));
  return (body as { items: { log: string }[] }).items.map((item) => item.log);
}
/** Everything the API says about the run. */
async function everything(id: string): Promise<string> {
  const paths = ['', '/metadata', '/output', '/logs', '/logs/live'];
  const responses = await Promise.all(paths.map((path) => server.request('GET', pathOf(id, path))));
  return responses.map((response) => response.text).join('\n');
}

const STDERR = 'key @KEY, yes\nof the file: @FILE{"json":"first \\"half\\""}\n';
const SHOWN = ['key ***, yes', 'of the file: ***', '***', 'end', '{"json":"***"}'];

describe('secrets show as stars', () => {
  test('in the log while the app runs and after it', async () => {
    const id = await createRun(server, application, {
      input: { stderr: STDERR, waits: true },
      body: withKeys,
    });
    await waitForLogLine(server, application, id, '{"json"');
    expect(await liveOf(id)).toEqual(SHOWN);
    expectStatus(await server.request('PATCH', pathOf(id, '/cancel')), 204);
    const found = await waitForRunEnd(server, application, id);
    expect(found.status_v2).toBe('canceled');
    expect(await liveOf(id)).toEqual(SHOWN);
    expect(await logOf(id)).toBe(`${SHOWN.join('\n')}\n`);
    expect(found.error_log?.stderr).toBe(`${SHOWN.join('\n')}\n`);
    expect(await everything(id)).not.toContain(KEY);
  });

  test('in a log that comes in many pieces', async () => {
    const lines = 20_000;
    const found = await run({ stderr: `${'line with @KEY in it\n'.repeat(lines)}` });
    expect(found.status_v2).toBe('succeeded');
    expect(await logOf(found.id)).toBe('line with *** in it\n'.repeat(lines));
  });

  test('at the place where a long line is cut', async () => {
    const found = await run({ stderr: '@65530x@KEY and more\nshort\n' });
    const [line, next] = await liveOf(found.id);
    expect(line).toBe(`${'x'.repeat(65_530)}*** [line cut after 64 KiB]`);
    expect(next).toBe('short');
    expect(await logOf(found.id)).toBe(`${'x'.repeat(65_530)}*** and more\nshort\n`);
  });

  test('in what a failed run printed', async () => {
    const found = await run({ stdout: '{"key":"@KEY"}', stderr: '@KEY\n', code: 3 });
    expect(found).toMatchObject({
      status_v2: 'failed',
      error: 'The app ended with exit code 3.',
      error_log: { stdout: '{"key":"***"}', stderr: '***\n' },
    });
    expect(await everything(found.id)).not.toContain(KEY);
  });

  test('in the end of what a failed run printed, also when that begins within a value', async () => {
    // 64 KiB are kept: the last 9 characters of the value and what follows it.
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
    const text = await everything(found.id);
    // Not a part of it either, as the parser quotes parts.
    for (let at = 0; at + 6 <= KEY.length; at += 1) expect(text).not.toContain(KEY.slice(at, at + 6));
  });

  test('in the sentence about output of more than a megabyte, which a thread reads', async () => {
    const found = await run({ stdout: '{"a":"@1100000x", @KEY' });
    expect(found.status_v2).toBe('failed');
    expect(found.error).toContain('not JSON');
    expect(await everything(found.id)).not.toContain(KEY.slice(0, 6));
  });

  test('in both streams of an app that writes files, in any order', async () => {
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

  test('in the sentence about statistics', async () => {
    const found = await run({ stdout: '{"statistics":{"schema":"@KEY"}}' });
    expect(found.statistics).toMatchObject({
      status: 'error',
      error: 'statistics.schema is "***"; it must be "v1".',
    });
  });
});

test('after a run neither the database nor a file of the server holds a value', async () => {
  // A value of its own: other apps here print theirs as their output, which is kept.
  const value = 'found-nowhere-at-all';
  const id = await collection('own', value, `${value} too`);
  const found = await run({ stderr: STDERR, stdout: '@KEY', code: 3 }, named(id));
  expect(found).toMatchObject({ status_v2: 'failed', error_log: { stdout: '***' } });
  const holding = (): string[] =>
    readdirSync(server.dataFolder, { withFileTypes: true, recursive: true })
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name))
      .filter((path) => (existsSync(path) ? readFileSync(path) : Buffer.alloc(0)).includes(value));
  // The folder of the run, in which the app found them, goes right after its end.
  await expect.poll(holding, { timeout: 10_000, interval: 20 }).toEqual([]);
  const { rows } = await sql<{
    lines: string;
  }>`select lines from log_chunks where run_id = ${found.id}`.execute(server.runningServer.database.read);
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect(row.lines).not.toContain(value);
});

describe('what stays as it is', () => {
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

  test('values of fewer than 4 characters, and logs of runs with nothing to hide', async () => {
    const found = await run({ stderr: 'yes, end\n' });
    expect(await logOf(found.id)).toBe('yes, end\n');
    const other = await run({ stderr: `${KEY}\n` }, named(await collection('nothing', '', '')));
    expect(await liveOf(other.id)).toEqual([KEY]);
    expect(await logOf(other.id)).toBe(`${KEY}\n`);
  });
});
