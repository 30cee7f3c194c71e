/** Connections of which Node's HTTP parser receives one request at a time. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SequentialConnection } from './sequential-connection.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, connection: SequentialConnection) => void;

let handle: Handler;
let port = 0;
const server: Server = createServer((request, response) => {
  const connection: unknown = request.socket;
  if (!(connection instanceof SequentialConnection)) throw new Error('not a SequentialConnection');
  connection.begin(request, response);
  handle(request, response, connection);
});
const parsers = server.listeners('connection');
server.removeAllListeners('connection');
server.on('connection', (socket: Socket) => {
  for (const parse of parsers) Reflect.apply(parse, server, [new SequentialConnection(socket)]);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const send = (...parts: string[]): Promise<string> => {
  const socket = connect(port, '127.0.0.1');
  for (const part of parts) socket.write(part);
  return text(socket);
};
const LAST = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const post = (body: string): string =>
  `POST /${body} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const CHUNKED =
  'POST /chunked HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';
const noLimit = { milliseconds: 60_000, isForPauses: true, onExpiry: () => {} };

/** Answers each request with its path and body. */
const echo: Handler = async (request, response, connection) => {
  connection.openBody(noLimit);
  response.end(`<${request.url} ${await buffer(request)}>`);
};
const listResponses = (received: string): string[] => received.match(/<[^>]*>/g) ?? [];

test.each<[string, string[], string[]]>([
  ['bodies', [post('one'), post('two'), LAST], ['</one one>', '</two two>', '</last >']],
  ['bodies in one write', [post('one') + post('two') + LAST], ['</one one>', '</two two>', '</last >']],
  ['bytes one by one', [...(post('one') + LAST)], ['</one one>', '</last >']],
  ['empty lines before a request', ['\r\n\r\n\r\n', `\r\n${LAST}`], ['</last >']],
  ['requests behind a body in chunks, which are dropped', [CHUNKED + LAST], ['</chunked abc>']],
])('A7: passes on %s', async (_, parts, responses) => {
  handle = echo;
  expect(listResponses(await send(...parts))).toEqual(responses);
});

test('A7: parses no request before the one ahead of it has its response', async () => {
  const responses: ServerResponse[] = [];
  let most = 0;
  let count = 0;
  handle = (_request, response) => {
    responses.push(response);
    count += 1;
    most = Math.max(most, responses.length);
    setImmediate(() => responses.shift()?.end());
  };
  await send('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(500), LAST);
  expect([count, most]).toEqual([501, 1]);
});

test('A7: the parser gets nothing more after bytes that it has refused', async () => {
  let errors = 0;
  const refuse = (_error: Error, connection: SequentialConnection): void => {
    errors += 1;
    connection.fail();
    setTimeout(() => connection.end('refused'), 20);
  };
  server.on('clientError', refuse);
  expect(await send('X\r\n\r\n'.repeat(1000), LAST)).toBe('refused');
  server.off('clientError', refuse);
  expect(errors).toBe(1);
});

test.each([true, false])('A6: a body that stops ends with its time (pauses: %s)', async (isForPauses) => {
  handle = (_request, response, connection) => {
    connection.openBody({
      milliseconds: 50,
      isForPauses,
      onExpiry: () => {
        response.shouldKeepAlive = false;
        response.writeHead(408).end();
      },
    });
  };
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n';
  expect(await send(head, 'half')).toMatch(/^HTTP\/1.1 408/);
});

test('A6: a body is not read before the request may go on', async () => {
  const opened = Promise.withResolvers<SequentialConnection>();
  let bytes = 0;
  handle = (request, response, connection) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.once('end', () => response.end());
    opened.resolve(connection);
  };
  const sent = send(post('x'.repeat(4000)), LAST);
  const connection = await opened.promise;
  handle = echo;
  await new Promise(setImmediate);
  expect(bytes).toBe(0);
  connection.openBody(noLimit);
  expect(listResponses(await sent)).toEqual(['</last >']);
  expect(bytes).toBe(4000);
});
