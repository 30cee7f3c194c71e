/** Requests that the proxy of workflows passes on to the server. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { passOn, ServerConnections } from './pass-on.ts';

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.closeAllConnections();
  for (const server of servers) server.close();
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port }: Partial<AddressInfo> = Object(server.address());
  return `http://127.0.0.1:${port}`;
}

test('A7: a request that is sent again adds nothing to its response', async () => {
  const counts: number[] = [];
  let passed: ServerResponse | undefined;
  const api = await listen(
    createServer((_request, response) => {
      counts.push(passed?.listenerCount('close') ?? 0);
      response.writeHead(counts.length < 4 ? 429 : 200, { 'retry-after': '0' }).end();
    }),
  );
  const connections = new ServerConnections(1);
  const proxy = await listen(
    createServer((request, response) => {
      passed = response;
      const target = { url: api, isOwn: true };
      void passOn(request, response, { proof: 'a', proofHeader: 'b', connections, target, trace: {} });
    }),
  );
  expect((await fetch(`${proxy}/v1/a`)).status).toBe(200);
  connections.destroy();
  expect(counts).toHaveLength(4);
  expect(new Set(counts).size).toBe(1);
});
