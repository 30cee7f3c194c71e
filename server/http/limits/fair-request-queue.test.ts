import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

test('V4: requests on one connection are handled one after the other, however many it pipelines', async () => {
  let maxActive = 0;
  let active = 0;
  let handled = 0;
  const pipelined = createServer(
    fairly((_request, response) => {
      active += 1;
      maxActive = Math.max(maxActive, active);
      setImmediate(() => {
        active -= 1;
        handled += 1;
        response.end(String(handled));
      });
    }),
  );
  await new Promise<void>((resolve) => pipelined.listen(0, '127.0.0.1', resolve));
  const { port } = pipelined.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  socket.write(request.repeat(3000) + request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(3001);
  expect(text.endsWith('3001')).toBe(true);
  expect(maxActive).toBe(1);
  pipelined.close();
});
