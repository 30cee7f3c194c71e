import { createServer, type RequestListener } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { RUN_PROOF_HEADER } from '@switchyard/contract/run-proof-header.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Accepts } from './accepts.ts';
import { fairly } from './fair-request-queue.ts';

const CALLERS = 200;
/** Responses by connection. */
const responseCounts = new Map<unknown, number>();
let maxResponses = 0;
const allServed = Promise.withResolvers<void>();
const server = createServer(
  fairly((request, response) => {
    const responses = (responseCounts.get(request.socket) ?? 0) + 1;
    responseCounts.set(request.socket, responses);
    maxResponses = Math.max(maxResponses, responses);
    if (responseCounts.size === CALLERS) allServed.resolve();
    response.end();
  }),
);
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('each of 200 simultaneous callers gets its first response before another one gets 40', async () => {
  const { port } = server.address() as AddressInfo;
  const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const sockets = Array.from({ length: CALLERS }, () => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.on('data', () => socket.write(request));
    socket.on('error', () => {});
    return socket;
  });
  await allServed.promise;
  const maxBeforeLast = maxResponses;
  for (const socket of sockets) socket.destroy();
  expect(maxBeforeLast).toBeLessThan(CALLERS / 5);
});

test('A10: connections take turns, however many streams each has', async () => {
  const order: string[] = [];
  const received = Promise.withResolvers<void>();
  let arrived = 0;
  const handled = Promise.withResolvers<void>();
  const queue = fairly((request, response) => {
    order.push(request.url ?? '');
    if (order.length === 41) handled.resolve();
    response.end();
  });
  const http2 = createHttp2Server();
  // Queued when all have arrived, so that the order depends on nothing but the queue.
  const exchanges: Parameters<RequestListener>[] = [];
  http2.on('request', (request: unknown, response: unknown) => {
    exchanges.push([request, response] as Parameters<RequestListener>);
    arrived += 1;
    if (arrived === 41) received.resolve();
  });
  await new Promise<void>((resolve) => http2.listen(0, '127.0.0.1', resolve));
  const { port } = http2.address() as AddressInfo;
  const sessions = ['/many', '/one'].map(() => connectHttp2(`http://127.0.0.1:${port}`));
  for (let stream = 0; stream < 40; stream += 1) sessions[0]?.request({ ':path': '/many' }).resume();
  sessions[1]?.request({ ':path': '/one' }).resume();
  await received.promise;
  const isOne = ([request]: Parameters<RequestListener>): number => Number(request.url === '/one');
  for (const [request, response] of exchanges.sort((one, other) => isOne(one) - isOne(other)))
    queue(request, response);
  await handled.promise;
  expect(order.indexOf('/one')).toBe(1);
  for (const session of sessions) session.destroy();
  http2.close();
});

test.each([
  ['A10: addresses take turns, however many connections each has, when no new caller waits', '127.0.0.2', ''],
  [
    'A7: the apps of all runs have one turn among the callers of their host',
    '127.0.0.1',
    `${RUN_PROOF_HEADER}: a\r\n`,
  ],
])('%s', async (_title, localAddress, header) => {
  const order: string[] = [];
  const handled = Promise.withResolvers<void>();
  const accepts = new Accepts(() => 0);
  const queue = fairly((request, response) => {
    order.push(request.url ?? '');
    if (order.length === 21) handled.resolve();
    response.end();
  }, accepts);
  const received = Promise.withResolvers<void>();
  const exchanges: Parameters<RequestListener>[] = [];
  const http1 = createServer((request, response) => {
    exchanges.push([request, response]);
    if (exchanges.length === 21) received.resolve();
  });
  await new Promise<void>((resolve) => http1.listen(0, '127.0.0.1', resolve));
  const { port } = http1.address() as AddressInfo;
  const open = (from: string, path: string, more = ''): void => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`);
  };
  for (let opened = 0; opened < 20; opened += 1) open('127.0.0.1', '/flood', header);
  open(localAddress, '/other');
  await received.promise;
  const isOther = ([request]: Parameters<RequestListener>): number => Number(request.url === '/other');
  for (const [request, response] of exchanges.sort((one, other) => isOther(one) - isOther(other)))
    queue(request, response);
  for (let turn = 0; turn < 20; turn += 1) {
    accepts.add();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(order).toEqual([]);
  await handled.promise;
  expect(order.indexOf('/other')).toBe(1);
  http1.closeAllConnections();
  http1.close();
});
