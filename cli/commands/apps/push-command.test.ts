/** A push with a version and an instance, and transfers whose connection is lost. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@switchyard/contract/client.ts';
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import { PART_BYTES } from '@switchyard/contract/transfer/partial-upload.ts';
import { createRun, createRunAndWait } from '@switchyard/server/testing/fixtures/apps.ts';
import { startBalancer } from '@switchyard/server/testing/servers/balancer.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findLinkedApplication, linkApplication } from '../../session/application-link.ts';
import { runCommand } from '../../testing/run-command.ts';
import { downloadContent } from '../../transfer/download.ts';
import { followRun } from '../runs/follow-run.ts';
import { requestOutput } from '../runs/run-content.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-push-command-'));
/** Prints its input, after a line for each number of it; a large output for the first number 0. */
const MAIN = `#!/bin/sh
read -r numbers
for number in $numbers; do echo "line $number" >&2; done
[ "$numbers" = 0 ] && values=$(seq -s, 1 100000)
echo "{\\"solution\\":[$values]}"
`;

const LARGE_BYTES = 20_000_000;
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  writeApp('app', {});
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function writeApp(name: string, fields: Record<string, unknown>): void {
  const manifest = { type: 'binary', runtime: 'native', entrypoint: 'main', files: ['main'], ...fields };
  mkdirSync(join(folder, name), { recursive: true });
  // Every JSON text is a YAML text.
  writeFileSync(join(folder, name, 'app.yaml'), JSON.stringify(manifest));
  writeFileSync(join(folder, name, 'main'), MAIN, { mode: 0o755 });
}

const cli = (args: readonly string[], url = server.url) =>
  runCommand(args, {
    cwd: folder,
    env: {
      ...{ SWITCHYARD_URL: url, SWITCHYARD_TOKEN: server.token },
      SWITCHYARD_CONFIG: join(folder, 'config'),
    },
  });

describe('push', () => {
  test('creates a version and an instance, which the next push moves', async () => {
    const first = await cli(['push', 'app', '--version', 'v1', '--instance', 'candidate']);
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Created version v1; instance candidate runs it now.\n'),
    });
    const params = { application_id: 'app', instance_id: 'candidate' };
    expect((await server.client.call('getInstance', { params })).body.version_id).toBe('v1');
    const second = await cli(['push', 'app', '--instance', 'candidate', '--wait', '--json']);
    const { version_id } = JSON.parse(second.stdout);
    expect(version_id).not.toBe('v1');
    expect((await server.client.call('getInstance', { params })).body.version_id).toBe(version_id);
  });

  test.each<[string[], number, string]>([
    [['--version', 'v1'], 5, 'Version v1 of application app exists'],
    [['--instance', 'latest'], 2, 'reserved'],
    [['--version', 'v3', '--instance', 'fixed'], 5, 'locked by'],
  ])('%j is refused before anything is built', async (args, code, words) => {
    writeApp('built', { 'pre-push': 'touch built' });
    const params = { application_id: 'app', instance_id: 'fixed' };
    const body = { id: 'fixed', version_id: 'v1' };
    const { status } = await server.request('POST', '/v1/applications/app/instances', { body });
    expect([201, 400]).toContain(status);
    await server.client.call('setInstanceLock', { params, body: { locked: true } });
    const refused = await cli(['push', 'built', '--app', 'app', ...args]);
    expect(refused).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(words) });
    expect(existsSync(join(folder, 'built', 'built'))).toBe(false);
  });

  test.each<[Record<string, unknown>, string]>([
    [{ python: 'requirements.txt' }, 'app.yaml: python is "requirements.txt"; it must be a map.'],
    [{ files: [{ a: 1 }] }, 'app.yaml: files.0 is a JSON object; it must be text.'],
  ])('sends nothing of an app with %j in its manifest', async (fields, words) => {
    writeApp('wrong', { type: 'python', ...fields });
    const refused = await cli(['push', 'wrong']);
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(words) });
    const params = { application_id: 'wrong' };
    await expect(server.client.call('getApplication', { params })).rejects.toMatchObject({ status: 404 });
  });

  test('remembers an application whose id is not the name of the folder', async () => {
    writeApp('sources', {});
    expect((await cli(['push', 'sources', '--app', 'delivery', '--quiet'])).stdout).toBe('delivery\n');
    const link = readFileSync(join(folder, 'sources', '.switchyard.json'), 'utf8');
    expect(JSON.parse(link)).toEqual({ application: 'delivery' });
    expect((await cli(['push', 'sources', '--quiet'])).stdout).toBe('delivery\n');
    expect(existsSync(join(folder, 'app', '.switchyard.json'))).toBe(false);
  });

  test.each<{ title: string; link?: string; args?: string[]; variable: string; warning?: string }>([
    { title: 'its name', variable: 'elsewhere', warning: 'belongs to application moved,' },
    { title: 'its link', link: 'linked', variable: 'moved', warning: 'belongs to application linked,' },
    { title: 'an equal link', link: 'moved', variable: 'moved' },
    { title: 'its name, beside --app,', args: ['--app', 'moved'], variable: 'elsewhere' },
  ])('warns of SWITCHYARD_APP against $title: $warning', async ({ link, args = [], variable, warning }) => {
    writeApp('moved', {});
    rmSync(join(folder, 'moved', '.switchyard.json'), { force: true });
    if (link !== undefined) linkApplication(join(folder, 'moved'), link);
    const env = { SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: server.token, SWITCHYARD_APP: variable };
    const { stdout, stderr } = await runCommand(['push', 'moved', ...args, '--quiet'], { cwd: folder, env });
    expect(stdout).toBe(`${args.at(-1) ?? variable}\n`);
    expect(stderr.includes('SWITCHYARD_APP')).toBe(warning !== undefined);
    expect(stderr).toContain(warning ?? '');
    expect(findLinkedApplication(join(folder, 'moved'))).toBe(link ?? 'moved');
  });
});

describe('an upload whose connection is cut', () => {
  /** Bytes that no compression makes smaller, in three parts. */
  const large = createHash('shake256', { outputLength: LARGE_BYTES }).digest();

  /** Executes the command through a proxy that cuts its connections, and returns the bytes that the proxy received. */
  async function runThroughCuts(args: readonly string[]) {
    const proxy = await startBalancer({ cutAfterBytes: LARGE_BYTES * 0.6 });
    try {
      proxy.use([server.url]);
      const { code, stdout, stderr } = await cli(args, proxy.url);
      expect({ code, stderr }).toMatchObject({
        code: 0,
        stderr: expect.stringContaining(
          'The connection was lost. The upload continues where it stopped in 0.5 s.',
        ),
      });
      return { stdout, sentAgain: proxy.receivedBytes - LARGE_BYTES };
    } finally {
      await proxy.close();
    }
  }

  test('continues with the archive of an app', async () => {
    writeApp('large', { files: ['main', 'large'] });
    writeFileSync(join(folder, 'large', 'large'), large);
    const { stdout, sentAgain } = await runThroughCuts(['push', 'large', '--version', 'v-cut']);
    expect(stdout).toContain('version v-cut');
    expect(sentAgain).toBeLessThan(PART_BYTES);
  });

  test('continues with the input of a run, which arrives unchanged', async () => {
    writeFileSync(join(folder, 'large.bin'), large);
    expect((await cli(['push', 'app'])).code).toBe(0);
    const { sentAgain } = await runThroughCuts([
      ...['run', '--app', 'app', '--input', 'large.bin', '--format', 'text'],
    ]);
    expect(sentAgain).toBeLessThan(PART_BYTES);
    const [run] = (await server.client.call('listRuns', { params: { application_id: 'app' } })).body.runs;
    const params = { application_id: 'app', run_id: run?.id ?? '' };
    const { body } = await server.client.call('getRunInput', { params, query: { format: 'url' } });
    const hash = createHash('sha256');
    await downloadContent(
      server.client,
      (body as { url: string }).url,
      async (chunk) => void hash.update(chunk),
    );
    expect(hash.digest('hex')).toBe(createHash('sha256').update(large).digest('hex'));
  });
});

/** Returns a client whose first response to a path is cut after this many bytes. */
function createCutClient(path: string, bytes: number) {
  const requests: Headers[] = [];
  const client = createClient({
    url: server.url,
    token: server.token,
    fetch: async (url, init) => {
      if (!new URL(String(url)).pathname.includes(path)) return fetch(url, init);
      requests.push(new Headers(init?.headers));
      const response = await fetch(url, init);
      if (requests.length > 1 || !response.body) return response;
      return new Response(response.body.pipeThrough(cutAfter(bytes)), response);
    },
  });
  return { client, requests };
}

/** `fetch` reports a lost connection like this. */
function cutAfter(bytes: number): TransformStream<Uint8Array, Uint8Array> {
  let remaining = bytes;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, remaining));
      remaining -= chunk.byteLength;
      if (remaining < 0) controller.error(new TypeError('terminated'));
    },
  });
}

describe('a lost connection', () => {
  const params = (run_id: string) => ({ application_id: 'app', run_id });
  const text = { configuration: { format: { input: { type: 'text' }, output: { type: 'text' } } } };

  test('of a download: it continues at the first missing byte', async () => {
    const run = await createRunAndWait(server, 'app', { input: '0\n', body: text });
    const { url } = await requestOutput(server.client, params(run.id));
    const { client, requests } = createCutClient('/v1/downloads/', 1000);
    const chunks: Uint8Array[] = [];
    await downloadContent(client, url ?? '', async (chunk) => void chunks.push(chunk));
    const { solution } = JSON.parse(Buffer.concat(chunks).toString());
    expect(requests.map((headers) => headers.get('range'))).toEqual([null, 'bytes=1000-']);
    expect(solution).toEqual(Array.from({ length: 100_000 }, (_, index) => index + 1));
  });

  /** Follows a run of ten lines, and returns them with the status at the end. */
  async function follow(
    client: Client,
    firstEventMs = 60_000,
  ): Promise<{ lines: string[]; end: RunStatusV2 }> {
    const run = await createRun(server, 'app', { input: '1 2 3 4 5 6 7 8 9 10\n', body: text });
    const lines: string[] = [];
    const end = await followRun({
      client,
      params: params(run),
      observer: { onLines: (items) => lines.push(...items.map(({ log }) => log)) },
      signal: new AbortController().signal,
      firstEventMs,
    });
    return { lines, end };
  }
  const all = Array.from({ length: 10 }, (_, index) => `line ${index + 1}`);

  test('of a stream of events: it continues after the last event', async () => {
    const { client, requests } = createCutClient('/events', 150);
    expect(await follow(client)).toEqual({ lines: all, end: 'succeeded' });
    expect(requests.map((headers) => headers.has('last-event-id'))).toEqual([false, true]);
  });

  test('where no event arrives, the log is polled', async () => {
    const paths: string[] = [];
    const client = createClient({
      url: server.url,
      token: server.token,
      fetch: (url, init) => {
        paths.push(new URL(String(url)).pathname.split('/').at(-1) ?? '');
        if (!paths.includes('live') && paths.at(-1) === 'events')
          return new Promise((_, reject) => {
            init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
          });
        return fetch(url, init);
      },
    });
    expect(await follow(client, 100)).toEqual({ lines: all, end: 'succeeded' });
    expect(paths.slice(0, 2)).toEqual(['events', 'live']);
  });
});
