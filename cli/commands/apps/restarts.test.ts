/** Commands whose server restarts meanwhile: it is a process of its own, and SIGKILL ends it. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { findFreePorts } from '@switchyard/server/testing/host/free-ports.ts';
import { startBalancer } from '@switchyard/server/testing/servers/balancer.ts';
import { type ServerProcess, startServerProcess } from '@switchyard/server/testing/servers/server-process.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../../testing/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-restarts-'));
/** The id of the process of the server, for a step of the build. */
const pidFile = join(folder, 'pid');
const LARGE_BYTES = 10_000_000;
let server: ServerProcess;
let port = 0;

async function startServer(): Promise<void> {
  server = await startServerProcess({
    dataFolder: join(folder, 'data'),
    env: { SWITCHYARD_PORT: String(port) },
  });
  writeFileSync(pidFile, String(server.pid));
}

beforeAll(async () => {
  [port = 0] = await findFreePorts(1);
  await startServer();
});
afterAll(async () => {
  await server.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

function writeApp(name: string, fields: Record<string, unknown> = {}): void {
  const manifest = { type: 'binary', runtime: 'native', entrypoint: 'main', files: ['main'], ...fields };
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, 'app.yaml'), JSON.stringify(manifest));
  writeFileSync(join(folder, name, 'main'), '#!/bin/sh\necho {}\n', { mode: 0o755 });
}

/** Runs a command line; `onNote` receives each piece of its standard error. */
const cli = (args: readonly string[], onNote: (note: string) => void = () => {}, url = server.url) =>
  runCommand(args, {
    cwd: folder,
    env: {
      ...{ SWITCHYARD_URL: url, SWITCHYARD_TOKEN: server.token },
      SWITCHYARD_CONFIG: join(folder, 'config'),
    },
    onError: onNote,
  });

const OUTAGE = /^The server cannot be reached: .* Trying again for 1\smin\s4\ss\.$/gm;
const startsAgain = (note: string): void => {
  if (note.startsWith('The server cannot be reached:')) void startServer();
};

test('W16: push outlasts a server that is down before its first request, and one that is killed while it packs', async () => {
  writeApp('routing', { 'pre-push': `kill -9 $(cat ${pidFile})` });
  await server.kill();
  const pushed = await cli(['push', 'routing', '--version', 'v1', '--instance', 'live'], startsAgain);
  expect(pushed).toMatchObject({ code: 0, stdout: expect.stringContaining('instance live runs it now') });
  expect(pushed.stderr.match(OUTAGE)).toHaveLength(2);
});

test('W16: push continues an upload during which the server is killed', async () => {
  writeApp('large', { files: ['main', 'large'] });
  const bytes = createHash('shake256', { outputLength: LARGE_BYTES }).digest();
  writeFileSync(join(folder, 'large', 'large'), bytes);
  const proxy = await startBalancer({
    // In the second part: the server has the first one.
    cutAfterBytes: 0.9 * LARGE_BYTES,
    onCut: () => {
      proxy.use([]);
      void server.kill();
    },
  });
  proxy.use([server.url]);
  const startAgain = async (): Promise<void> => {
    await server.exited;
    await startServer();
    proxy.use([server.url]);
  };
  const { code, stderr } = await cli(
    ['push', 'large'],
    (note) => void (note.startsWith('The connection was lost.') && startAgain()),
    proxy.url,
  );
  await proxy.close();
  expect(code, stderr).toBe(0);
  expect(stderr.match(/^The connection was lost\. The upload continues/gm)).toHaveLength(1);
  expect(stderr.match(OUTAGE)).toHaveLength(1);
});

test('W16: run waits for its result across a restart of the server', async () => {
  let hasRestarted = false;
  const onNote = (note: string): void => {
    startsAgain(note);
    if (hasRestarted || !note.startsWith('Created run')) return;
    hasRestarted = true;
    void server.kill();
  };
  writeFileSync(join(folder, 'input.json'), '{}');
  const args = ['run', '--app', 'routing', '--input', 'input.json', '--output', '-'];
  const { code, stdout, stderr } = await cli(args, onNote);
  expect(code, stderr).toBe(0);
  expect(stdout).toBe('{}\n');
});

test('W16: push has one effect when the first response to each of its writes is lost', async () => {
  writeApp('once');
  const lost: string[] = [];
  const proxy = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const body = await buffer(request);
    const { host: _own, connection: _hop, 'transfer-encoding': _chunked, ...forwarded } = headers;
    const result = await fetch(`${server.url}${url}`, {
      method,
      headers: { ...forwarded } as Record<string, string>,
      ...(body.length > 0 && { body }),
    });
    const text = await result.text();
    const step = `${method} ${url.replace(/\?.*|upl-.*/, '')}`;
    // The server has done the work when the connection breaks.
    if (method !== 'GET' && !lost.includes(step)) {
      lost.push(step);
      response.destroy();
    } else response.writeHead(result.status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const create = ['push', 'once', '--version', 'v1', '--instance', 'live'];
  expect(await cli(create, undefined, url)).toMatchObject({ code: 0 });
  const move = ['push', 'once', '--version', 'v2', '--instance', 'live'];
  expect(await cli(move, undefined, url)).toMatchObject({ code: 0 });
  proxy.close();
  const application = '/v1/applications/once';
  expect(lost).toEqual([
    'POST /v1/applications',
    'PATCH /v1/uploads/',
    `PUT ${application}/binary`,
    `POST ${application}/versions`,
    `POST ${application}/instances`,
    `PUT ${application}/instances/live`,
  ]);
  const params = { application_id: 'once', instance_id: 'live' };
  expect((await server.client.call('getInstance', { params })).body.version_id).toBe('v2');
});
