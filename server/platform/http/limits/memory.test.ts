/** Unfinished requests and unread responses from hundreds of connections, against a real server process. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nodeApp, pushApp } from '../../../testing/fixtures/apps.ts';
import { measureMemory } from '../../../testing/host/memory.ts';
import { waitUntil } from '../../../testing/host/wait-until.ts';
import { openSocket } from '../../../testing/http/raw-sockets.ts';
import { type ServerProcess, startServerProcess } from '../../../testing/servers/server-process.ts';
import { BODY_BUDGET_BYTES, RESPONSE_BUDGET_BYTES } from './budget.ts';

const MIB = 1024 * 1024;
const CONNECTIONS = 150;
/** Two chunks of 64 KiB in each direction, with the objects of the connection. */
const CONNECTION_BYTES = 256 * 1024;
/** The requests of the other callers, and garbage that the collector has not yet freed. */
const SLACK_BYTES = 128 * MIB;

const folders: string[] = [];
const servers: ServerProcess[] = [];
const sockets = new Set<Socket>();

async function startServer(descriptors?: number): Promise<ServerProcess> {
  const data = mkdtempSync(join(tmpdir(), 'switchyard-memory-'));
  folders.push(data);
  const server = await startServerProcess({
    dataFolder: data,
    ...(descriptors === undefined ? {} : { fileDescriptorLimit: descriptors }),
  });
  servers.push(server);
  return server;
}

async function createKey(server: ServerProcess, role: 'viewer' | 'operator', email: string): Promise<string> {
  const { body } = await server.client.call('createKey', { body: { name: role, role, user_email: email } });
  return body.token;
}

async function uploadContent(server: ServerProcess, content: string): Promise<string> {
  const { body } = await server.client.call('createRunUpload', { params: { application_id: 'app' } });
  const put = await fetch(body.upload_url, { method: 'PUT', body: content });
  expect(put.status).toBe(200);
  return body.upload_id;
}

async function openPausedConnection(
  server: ServerProcess,
  bytes: string | Buffer,
  filler?: Buffer,
): Promise<void> {
  const socket = await openSocket(server.url);
  sockets.add(socket);
  socket.on('error', () => {});
  socket.once('close', () => sockets.delete(socket));
  socket.pause();
  socket.write(bytes);
  if (filler) socket.write(filler);
}

let server: ServerProcess;
beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  for (const process of servers) await process.kill();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

test('V4: half-sent bodies and unread outputs of one viewer neither fill the memory nor keep others waiting', async () => {
  await server.client.call('createApplication', { body: { id: 'app', name: 'Application' } });
  const output = JSON.stringify({ plan: 'x'.repeat(5_000_000) });
  const result = { status: 'succeeded' as const, output_upload_id: await uploadContent(server, output) };
  const created = await server.request('POST', '/v1/applications/app/runs', {
    body: { input: {}, configuration: { run_type: { type: 'external' } }, result },
  });
  const { run_id } = created.body as { run_id: string };
  const path = `/v1/applications/app/runs/${run_id}`;
  const viewer = await createKey(server, 'viewer', 'viewer@example.com');
  const operator = await createKey(server, 'operator', 'operator@example.com');
  const head = (line: string, token: string, length: number) =>
    `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  const half = Buffer.alloc(5 * MIB, 'x');

  const { bytesBefore, peakBytes } = await measureMemory([server.pid], async () => {
    for (let count = 0; count < CONNECTIONS; count += 1)
      await Promise.all([
        openPausedConnection(server, head('POST /v1/account/keys', viewer, 6 * MIB), half),
        openPausedConnection(server, head('POST /v1/applications/app/runs', operator, 6 * MIB), half),
        openPausedConnection(server, head(`GET ${path}`, viewer, 0)),
      ]);
    for (let round = 0; round < 5; round += 1) {
      const input = { plan: 'y'.repeat(1_000_000), round };
      const responses = await Promise.all([
        server.request('GET', path),
        server.request('GET', '/v1/applications?limit=5'),
        server.request('POST', '/v1/applications/app/runs', {
          body: { input, configuration: { run_type: { type: 'external' } } },
        }),
      ]);
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 202]);
      expect(responses[0]?.text.length).toBeGreaterThan(output.length);
    }
  });
  // The server refuses or delays the requests of the attack; it has not crashed.
  expect(await server.request('GET', '/healthz')).toMatchObject({ status: 200 });
  const bytesMax =
    BODY_BUDGET_BYTES + RESPONSE_BUDGET_BYTES + 3 * CONNECTIONS * CONNECTION_BYTES + SLACK_BYTES;
  expect(peakBytes - bytesBefore).toBeLessThan(bytesMax);
});

test('V5: runs succeed while connections without a token ask for more descriptors than there are', async () => {
  const smallServer = await startServer(256);
  await pushApp(smallServer, 'app', nodeApp('(input) => input'));
  let remaining = 1200;
  const open = async (): Promise<void> => {
    if (remaining <= 0) return;
    remaining -= 1;
    const socket = await openSocket(smallServer.url).catch(() => null);
    if (!socket) return;
    sockets.add(socket);
    socket.on('error', () => {});
    // Each closed caller connects again.
    socket.once('close', () => {
      sockets.delete(socket);
      void open();
    });
    socket.write('GET /v1/account HTTP/1.1\r\nHost: x\r\n');
  };
  await Promise.all(Array.from({ length: 400 }, open));
  const runs = await Promise.all(
    Array.from({ length: 4 }, async (_, index) => {
      const body = { input: { index } };
      const created = await smallServer.request('POST', '/v1/applications/app/runs', { body });
      expect(created.status, created.text).toBe(202);
      return (created.body as { run_id: string }).run_id;
    }),
  );
  for (const run of runs) {
    const ended = await waitUntil(`run ${run} has ended`, async () => {
      const { body } = await smallServer.request('GET', `/v1/applications/app/runs/${run}/metadata`);
      const { metadata } = body as { metadata: { status_v2: string; error: string; attempt: number } };
      return ['queued', 'running'].includes(metadata.status_v2) ? null : metadata;
    });
    expect(ended).toMatchObject({ status_v2: 'succeeded', error: '', attempt: 1 });
  }
});
