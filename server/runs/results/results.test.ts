/** The results of apps: outputs, errors, invalid outputs and sizes. */
import { isTerminal } from '@switchyard/contract/states.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, createRunAndWait, type Files, pushApp } from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** Prints, logs and exits as its input says. */
const SCRIPTED_APP: Files = {
  'main.mjs': `
import { writeSync } from 'node:fs';
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { print = '', bytes, log, exit = 0, signal, encoding = 'utf8' } = JSON.parse(Buffer.concat(chunks));
const write = (fd, data) => { for (let at = 0; at < data.length; ) at += writeSync(fd, data, at); };
if (log !== undefined) write(2, Buffer.from(log));
write(1, Buffer.from(print, bytes === undefined ? encoding : 'latin1'));
if (bytes !== undefined) {
  write(1, Buffer.from('{"a":"'));
  for (let left = bytes - 8; left > 0; left -= 1048576) write(1, Buffer.alloc(Math.min(left, 1048576), 120));
  write(1, Buffer.from('"}'));
}
if (signal) { process.kill(process.pid, signal); setInterval(() => {}, 1000); } else process.exit(exit);
`,
};
const DIRECT_MAX = 5_242_880;
const OUTPUT_MAX = 104_857_600;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await pushApp(server, 'app', SCRIPTED_APP);
});
afterAll(() => server.close());

const runScript = (input: Record<string, unknown>) => createRunAndWait(server, 'app', { input });
const getOutput = (run: string, query = '') =>
  server.request('GET', `/v1/applications/app/runs/${run}/output${query}`);

describe('the output', () => {
  test('is one JSON object, returned byte for byte', async () => {
    const run = await runScript({ print: '\n {"b": 1.0, "n":12345678901234567890}\n' });
    expect(run.status_v2).toBe('succeeded');
    const response = await getOutput(run.id);
    expect(response.text).toContain('{"b": 1.0, "n":12345678901234567890}');
    expect(Object.keys(response.body as object)).toEqual(['output']);
    expect(run.output_size).toBe(Buffer.byteLength('\n {"b": 1.0, "n":12345678901234567890}\n'));
    expect(run.error_log).toBeUndefined();
  });

  test('W5: may begin with a byte order mark, and in another encoding is refused with the position', async () => {
    const run = await runScript({ print: '\uFEFF{"solution":{"café":1},"metrics":{"straße":2}}' });
    expect(run).toMatchObject({ status_v2: 'succeeded', error: '' });
    expect((await getOutput(run.id)).text).toContain('"output":{"solution":{"café":1}');
    expect(run.statistics.indicators).toMatchObject([{ name: 'straße', value: 2 }]);
    const latin = await runScript({ print: '{"solution":{"café":1}}', encoding: 'latin1' });
    expect(latin.status_v2).toBe('failed');
    expect(latin.error).toContain('not UTF-8 (byte 17 is 0xE9; it looks like Latin-1 or Windows-1252)');
  });

  test.each(['', ' \n\t'])('may be empty: %j', async (print) => {
    const run = await runScript({ print });
    expect(run).toMatchObject({ status_v2: 'succeeded', error: '', output_size: 0 });
    expect(run).not.toHaveProperty('output');
    expect((await getOutput(run.id)).body).toEqual({});
  });

  test.each([
    ['text', 'solved it!'],
    ['an array', '[1,2]'],
    ['a string', '"solved"'],
    ['null', 'null'],
    ['two objects', '{"a":1}\n{"a":2}'],
    ['a cut object', '{"a":'],
    ['a line before the object', 'Starting…\n{"a":1}'],
    ['a NUL', '\u0000'],
  ])('that is %s fails the run, and the server stores it as text', async (_case, print) => {
    const run = await runScript({ print });
    expect(run.status_v2).toBe('failed');
    expect(run.error).toContain('stdout must be one JSON object');
    expect(run).not.toHaveProperty('output');
    expect(run.error_log).toEqual({ error: run.error, stdout: print, stderr: '' });
  });

  test('that nests deeper than the stack ends the run without indicators', async () => {
    const deep = (depth: number): string =>
      '{"statistics":{"schema":"v1","result":'.concat('{"x":'.repeat(depth), '1', '}'.repeat(depth), '}}');
    const run = await runScript({ print: deep(50_000) });
    expect(['failed', 'succeeded']).toContain(run.status_v2);
    expect(run.statistics.indicators).toEqual([]);
  });

  test('of 5 MiB is in the response, and above that only at a URL', async () => {
    const fits = await runScript({ bytes: DIRECT_MAX });
    expect(fits.output_size).toBe(DIRECT_MAX);
    expect((fits.output as { a: string }).a).toHaveLength(DIRECT_MAX - 8);
    const id = await server.request('POST', '/v1/applications/app/runs', {
      body: { input: { bytes: DIRECT_MAX + 1 } },
    });
    const { run_id } = id.body as { run_id: string };
    const metadata = await server.waitUntil('runs-ended', async () => {
      const { body } = await server.client.call('getRunMetadata', {
        params: { application_id: 'app', run_id },
      });
      return body.status_v2 === 'succeeded' ? body : null;
    });
    expect(metadata.output_size).toBe(DIRECT_MAX + 1);
    for (const path of ['', '/output']) {
      const refused = await server.request('GET', `/v1/applications/app/runs/${run_id}${path}`);
      expect(refused.status).toBe(400);
      expect((refused.body as { error: string }).error).toContain('format=url');
      const response = await server.request('GET', `/v1/applications/app/runs/${run_id}${path}?format=url`);
      const { url } = (response.body as { output: { url: string } }).output;
      const downloaded = await fetch(url);
      expect(downloaded.headers.get('content-type')).toContain('application/json');
      expect(await downloaded.text()).toHaveLength(DIRECT_MAX + 1);
    }
  });

  test('above 1 MiB has its statistics in any place, and must be JSON to its end', async () => {
    const solution = JSON.stringify(Array.from({ length: 60_000 }, (_, n) => ({ id: `stop ${n}` })));
    const statistics = '"statistics":{"schema":"v1","result":{"value":7}}';
    for (const print of [
      `{"solution":${solution},${statistics}}`,
      `{${statistics},"solution":${solution}}`,
    ]) {
      const run = await runScript({ print });
      expect(run.status_v2).toBe('succeeded');
      expect(run.statistics.indicators).toEqual([{ name: 'result.value', value: 7 }]);
    }
    for (const print of [
      `{${statistics},"solution":${solution}`,
      `{"solution":${solution}} done`,
      solution,
    ]) {
      const run = await runScript({ print });
      expect(run.status_v2).toBe('failed');
      expect(run.error).toContain('stdout must be one JSON object');
      expect(run.error_log?.stdout).toBe(print.slice(-64 * 1024));
    }
  });

  test('of any size is available at a URL', async () => {
    const run = await runScript({ print: '{"a":1}' });
    const { body } = await getOutput(run.id, '?format=url');
    expect(await (await fetch((body as { output: { url: string } }).output.url)).text()).toBe('{"a":1}');
    expect((await getOutput(run.id, '?format=xml')).status).toBe(400);
  });

  test('of 100 MiB is stored in full', async () => {
    const run = await createRun(server, 'app', { input: { bytes: OUTPUT_MAX } });
    const params = { application_id: 'app', run_id: run };
    const metadata = await server.waitUntil('runs-ended', async () => {
      const { body } = await server.client.call('getRunMetadata', { params });
      return isTerminal(body.status_v2) ? body : null;
    });
    expect(metadata).toMatchObject({ status_v2: 'succeeded', output_size: OUTPUT_MAX });
    const { url } = (await getOutput(run, '?format=url')).body as { url: string };
    const head = await server.request('HEAD', url, { token: null });
    expect(head.headers.get('content-length')).toBe(String(OUTPUT_MAX));
    const end = await server.request('GET', url, { token: null, headers: { range: 'bytes=-4' } });
    expect(end.text).toBe('xx"}');
  });

  test('beyond 100 MiB fails the run', async () => {
    const run = await runScript({ bytes: OUTPUT_MAX + 1 });
    expect(run.status_v2).toBe('failed');
    expect(run.error).toMatch(/100/);
    expect(run).not.toHaveProperty('output');
    expect(run.error_log?.stdout).toHaveLength(64 * 1024);
  });
});

describe('a failure', () => {
  test('by exit code stores stdout and stderr, and has no output', async () => {
    const run = await runScript({ exit: 3, log: 'no route\n', print: '{"a":1}' });
    expect(run.status_v2).toBe('failed');
    expect(run.error).toContain('exit code 3');
    expect(run).not.toHaveProperty('output');
    expect(run.error_log).toEqual({ error: run.error, stdout: '{"a":1}', stderr: 'no route\n' });
  });

  test('by signal names the signal', async () => {
    const run = await runScript({ signal: 'SIGKILL', log: 'about to die\n' });
    expect(run.status_v2).toBe('failed');
    expect(run.error).toContain('SIGKILL');
    expect(run.error_log?.stderr).toBe('about to die\n');
  });

  test('has the end of a long log in its error, and all of it in the logs', async () => {
    const log = Array.from({ length: 20_000 }, (_, n) => `line ${n}\n`).join('');
    const run = await runScript({ exit: 1, log });
    expect(run.error_log?.stderr).toBe(log.slice(-64 * 1024));
    const { body } = await server.client.call('getRunLogs', {
      params: { application_id: 'app', run_id: run.id },
    });
    expect(body.log === log).toBe(true);
  });

  test('with a NUL in stdout and stderr returns both unchanged', async () => {
    const run = await runScript({ exit: 1, log: 'a\u0000b\n', print: 'x\u0000y' });
    expect(run.error_log).toMatchObject({ stdout: 'x\u0000y', stderr: 'a\u0000b\n' });
  });
});
