/** TLS through the front door: its versions and attacks, changed certificates, plain HTTP, and the end of the server. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect as connectPlain, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStream } from '../../../testing/http/event-streams.ts';
import { openSocket, readResponse, sendRaw } from '../../../testing/http/raw-sockets.ts';
import { openHttp2Session, openHttp2Stream, readHttp2Response } from '../../../testing/http/tls-clients.ts';
import { createPair, writePair } from '../../../testing/servers/certificates.ts';
import { startTestServer, type TestServer } from '../../../testing/servers/test-server.ts';
import { systemClock } from '../../clock.ts';
import { createLog } from '../../log.ts';
import { NO_AUDIT_LOG } from '../handlers/audited-actions.ts';
import type { Handlers } from '../handlers/handler.ts';
import { createMetrics } from '../metrics.ts';
import { createHttpServer } from '../server.ts';

const SERVED: Partial<Handlers> = { getHealth: async () => ({ status: 200, body: { status: 'ok' } }) };
const HANDLERS: Handlers = Object.assign(Object.create(null), SERVED);
const CHECK_INTERVAL_MS = 5_000;
const folder = mkdtempSync(join(tmpdir(), 'switchyard-tls-'));
const first = createPair();
/** The clock of the system, on which the server reads its files again after 20 ms. */
const clock = {
  ...systemClock,
  after: (delayMs: number, callback: () => void) =>
    systemClock.after(delayMs === CHECK_INTERVAL_MS ? 20 : delayMs, callback),
};

let server: TestServer;
beforeAll(async () => {
  const settings = writePair(folder, { ...first, certificate: first.certificate + first.authority });
  server = await startTestServer({ env: settings, clock });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Connects with TLS; resolves with the socket, or with the code of the error. */
function openTls(options: ConnectionOptions = {}): Promise<TLSSocket | string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), ca: first.authority, ...options });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

const hasOpenSsl = spawnSync('openssl', ['version']).status === 0;

/** Connects with the client of openssl, which reads `input`; returns its output. */
function openWithOpenSsl(options: readonly string[], input = 'Q\n'): Promise<string> {
  const args = ['s_client', '-connect', new URL(server.url).host, '-alpn', 'http/1.1', ...options];
  return new Promise((resolve) => {
    const child = execFile('openssl', args, { timeout: 20_000 }, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    );
    child.stdin?.end(input);
  });
}

/** Opens a connection that trusts the authority; returns `verified`, or the code of the error. */
async function verifyWith(authority: string): Promise<string> {
  const socket = await openTls({ ca: authority });
  if (typeof socket === 'string') return socket;
  socket.destroy();
  return 'verified';
}

describe('a handshake', () => {
  test.each<[string, ConnectionOptions, string | null]>([
    ['of TLS 1.3', { minVersion: 'TLSv1.3' }, 'TLSv1.3'],
    ['of TLS 1.2', { maxVersion: 'TLSv1.2' }, 'TLSv1.2'],
    ['of TLS 1.1', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }, null],
    ['with ciphers without encryption', { maxVersion: 'TLSv1.2', ciphers: 'NULL@SECLEVEL=0' }, null],
    ['with anonymous ciphers', { maxVersion: 'TLSv1.2', ciphers: 'aNULL@SECLEVEL=0' }, null],
  ])('%s has the result of the platform', async (_, options, version) => {
    const socket = await openTls(options);
    if (typeof socket === 'string') {
      expect(version, socket).toBeNull();
      return;
    }
    expect(socket.getProtocol()).toBe(version);
    socket.destroy();
  });

  test('cannot be repeated on its connection', async () => {
    const socket = await openTls({ maxVersion: 'TLSv1.2' });
    if (typeof socket === 'string') throw new Error(socket);
    const error = await new Promise((resolve) => {
      socket.once('error', resolve);
      socket.once('close', () => resolve('closed'));
      socket.renegotiate({}, resolve);
    });
    expect(error).not.toBeNull();
    socket.destroy();
  });

  // The clients of Node offer neither of these.
  test.runIf(hasOpenSsl)('that a third party forced down is refused (TLS_FALLBACK_SCSV)', async () => {
    const forced = await openWithOpenSsl(['-tls1_2', '-fallback_scsv']);
    expect(forced).toMatch(/inappropriate fallback/);
    const chosen = await openWithOpenSsl(['-tls1_2']);
    expect(chosen).toContain('Secure Renegotiation IS supported');
    expect(chosen).toMatch(/Compression: NONE/);
  });

  test.runIf(hasOpenSsl)('that openssl asks to repeat is refused', async () => {
    // s_client renegotiates at a line with R.
    expect(await openWithOpenSsl(['-tls1_2'], 'R\n')).toContain('no renegotiation');
  });

  test('of bytes that only begin like one closes its connection', async () => {
    const garbage = Buffer.concat([Buffer.from([0x16, 3, 1, 0, 50]), Buffer.alloc(200, 0xff)]);
    expect((await sendRaw(server, garbage)).status).toBe(0);
    expect(await verifyWith(first.authority)).toBe('verified');
  });
});

test('plain HTTP gets 400 with the sentence that corrects it', async () => {
  const response = await sendRaw(server, 'GET /v1/account HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(response.status).toBe(400);
  expect(response.text).toContain('https:// in place of http://');
});

test('a response tells browsers to use TLS from now on', async () => {
  const response = await server.request('GET', '/healthz');
  expect(response.headers.get('strict-transport-security')).toBe('max-age=31536000');
});

test('a changed certificate is for new connections; open ones stay, and an invalid one changes nothing', async () => {
  const stream = await openStream(server, '/v1/account/events');
  expect((await stream.next())?.event).toBe('runs');
  writePair(folder, { ...first, certificate: 'garbage' });
  const second = createPair();
  expect(await verifyWith(second.authority)).not.toBe('verified');
  writePair(folder, second);
  await expect.poll(() => verifyWith(second.authority)).toBe('verified');
  writePair(folder, createPair(-9, -1));
  expect(await verifyWith(second.authority)).toBe('verified');
  await server.request('POST', '/v1/applications', { body: { id: 'after-change', name: 'After' } });
  await stream.close();
  writePair(folder, first);
  await expect.poll(() => verifyWith(first.authority)).toBe('verified');
});

test('a shutdown ends sessions of HTTP/2 after their requests, and does not wait for silent clients', async () => {
  const closing = await startTestServer({ env: { SWITCHYARD_TLS: 'self-signed' } });
  const response = await closing.request('GET', '/healthz');
  expect(response.headers.get('strict-transport-security')).toBeNull();
  const silent = await openSocket(closing.url);
  const session = await openHttp2Session(closing.url);
  const goaway = new Promise((resolve) => session.once('goaway', resolve));
  const stream = openHttp2Stream(session, closing, { ':path': '/v1/account/events' });
  const events = readHttp2Response(stream);
  await new Promise((resolve) => stream.once('response', resolve));
  const silentEnd = readResponse(silent);
  const begun = performance.now();
  await closing.close();
  expect(performance.now() - begun).toBeLessThan(8_000);
  expect((await events).status).toBe(200);
  expect(await goaway).toBe(0);
  expect((await silentEnd).status).toBe(0);
});

describe('silent clients', () => {
  const start = () =>
    createHttpServer({
      ...{ rateLimit: null, publicUrl: () => 'https://127.0.0.1', idempotency: null, errorPages: null },
      ...{ auditLog: NO_AUDIT_LOG, newRequestId: () => 'request-1', clock: systemClock },
      ...{ log: createLog('silent'), metrics: createMetrics(), authenticate: async () => null },
      handlers: HANDLERS,
      servedOperations: ['getHealth'],
      connectionsMax: 40,
      handshakeTimeoutMs: 200,
      tls: { current: first, onChange() {} },
    });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['one byte of a handshake', Buffer.from([0x16])],
    ['half a record', Buffer.from([0x16, 3, 1, 1, 0, 1, 0, 0, 250, 3, 3])],
  ])('lose a connection on which they send %s', async (_, bytes) => {
    const http = await start();
    try {
      const url = await http.listen({ host: '127.0.0.1', port: 0 });
      const socket = await openSocket(url.replace('http:', 'https:'));
      if (bytes.length > 0) socket.write(bytes);
      expect((await readResponse(socket)).status).toBe(0);
    } finally {
      await http.close();
    }
  });

  test('with more handshakes than connections keep nobody out', async () => {
    const http = await start();
    const sockets: Socket[] = [];
    try {
      const url = new URL(await http.listen({ host: '127.0.0.1', port: 0 }));
      for (let count = 0; count < 120; count += 1) {
        const socket = connectPlain(Number(url.port), '127.0.0.1');
        socket.on('error', () => {});
        socket.write(Buffer.from([0x16, 3, 1]));
        sockets.push(socket);
      }
      const session = await openHttp2Session(url.href.replace('http:', 'https:'));
      const stream = openHttp2Stream(session, { token: 'x' }, { ':path': '/healthz' });
      expect((await readHttp2Response(stream)).status).toBe(200);
      session.destroy();
    } finally {
      for (const socket of sockets) socket.destroy();
      await http.close();
    }
  });
});
