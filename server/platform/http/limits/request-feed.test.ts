/** Pipelined requests: how many the server parses ahead of their responses, and that none of their bytes is lost. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { readResponse, sendRaw } from '../../../testing/http/raw-sockets.ts';
import { fairly } from './fair-request-queue.ts';
import { countRequests, feedRequests } from './request-feed.ts';

async function listen(handle: RequestListener): Promise<{ server: Server; url: string } & AsyncDisposable> {
  const server = createServer({ requireHostHeader: false }, fairly(handle));
  feedRequests(server, 'connection');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    server,
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const LAST = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const countResponses = (response: string): number => response.match(/HTTP\/1\.1 200/g)?.length ?? 0;

test('A10: of 32 requests sent at once the parser gets a few, and the rest as responses go out', async () => {
  let parsed = 0;
  let parsedAtFirst = 0;
  await using listening = await listen((_request, response) => {
    parsedAtFirst ||= parsed;
    response.end();
  });
  listening.server.on('request', () => {
    parsed += 1;
  });
  const response = await sendRaw(listening, GET.repeat(31) + LAST);
  expect(countResponses(response.text)).toBe(32);
  expect(parsedAtFirst).toBeLessThanOrEqual(8);
});

test.each([
  ['requests', GET.repeat(34)],
  ['2,000 requests', GET.repeat(2000)],
  ['requests without headers', 'GET / HTTP/1.0\r\n\r\n'.repeat(60)],
  ['requests with bodies', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody'.repeat(60)],
])('A10: 33 unanswered requests and more close the connection: %s', async (_, bytes) => {
  let handled = 0;
  await using listening = await listen((_request, response) => {
    handled += 1;
    response.end();
  });
  const response = await sendRaw(listening, bytes);
  expect(response.text).toMatch(/^HTTP\/1\.1 400 [\s\S]*more than 32 requests without a response/);
  expect(handled).toBe(0);
});

test('A10: requests that come behind one without a response are counted too', async () => {
  await using listening = await listen(() => {});
  const { hostname, port } = new URL(listening.url);
  const socket = connect(Number(port), hostname);
  socket.write(GET);
  listening.server.once('request', () => socket.write(GET.repeat(32)));
  const response = await readResponse(socket);
  expect(response.text).toMatch(/^HTTP\/1\.1 400 /);
});

describe('A10: pipelined bodies arrive whole, wherever their bytes are cut', () => {
  const bodies = [
    '',
    'plain',
    '\r\n\r\n'.repeat(700),
    'GET / HTTP/1.1\r\n\r\n'.repeat(200),
    'z'.repeat(3000),
  ];
  const requests = bodies.flatMap((body) => [
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body ? `${body.length.toString(16)}\r\n${body}\r\n` : ''}0\r\n\r\n`,
  ]);
  const bytes = Buffer.from(requests.join('') + LAST);
  test.each([1_000_000, 5000, 1461, 733, 128, 41])('every %i bytes', async (size) => {
    const received: string[] = [];
    await using listening = await listen(async (request, response) => {
      received.push(await text(request));
      response.end();
    });
    const { hostname, port } = new URL(listening.url);
    const socket = connect({ port: Number(port), host: hostname, noDelay: true });
    const read = readResponse(socket);
    for (let at = 0; at < bytes.length; at += size)
      await new Promise<void>((resolve) => socket.write(bytes.subarray(at, at + size), () => resolve()));
    expect(countResponses((await read).text)).toBe(requests.length + 1);
    expect(received).toEqual([...bodies.flatMap((body) => [body, body]), '']);
  });
});

test.each([
  ['', 0],
  ['GET / HTTP/1.1\r\nHost: x', 0],
  [GET.repeat(3), 3],
  [GET.repeat(40), 33],
  ['POST / HTTP/1.1\r\nContent-Length: 8\r\n\r\n\r\n\r\n\r\n\r\n', 1],
  [`POST / HTTP/1.1\r\ncontent-length:8\r\n\r\n\r\n\r\n\r\n\r\n${GET}`, 2],
  ['POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n\r\n\r\n', 1],
  ['POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n', 1],
])('A10: %j begins %i requests', (bytes, count) => {
  expect(countRequests(Buffer.from(bytes), 32)).toBe(count);
});
