import { Agent, request } from 'node:http';
import { expect, test } from 'vitest';
import { openSocket, readResponse } from '../../testing/http/raw-sockets.ts';
import { startTestServer } from '../../testing/servers/test-server.ts';

test('a shutdown does not wait for idle keep-alive connections', async () => {
  const server = await startTestServer();
  const agent = new Agent({ keepAlive: true });
  const get = () =>
    new Promise<number>((resolve, reject) => {
      const sent = request(`${server.url}/healthz`, { agent }, (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? 0));
      });
      sent.once('error', reject);
      sent.end();
    });
  try {
    expect(await Promise.all(Array.from({ length: 8 }, get))).toEqual(Array(8).fill(200));
    // One request is in progress when the shutdown begins; its connection becomes idle after it.
    const last = get().catch(() => 0);
    await server.close();
    expect([0, 200]).toContain(await last);
  } finally {
    agent.destroy();
  }
}, 9000);

test('a shutdown responds to every request that arrived before it', async () => {
  const server = await startTestServer();
  const head = `GET /v1/account HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n\r\n`;
  const sockets = await Promise.all(Array.from({ length: 200 }, () => openSocket(server.url)));
  const firstResponses = sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve)));
  for (const socket of sockets) socket.write(head);
  await Promise.all(firstResponses);
  const responses = sockets.map(readResponse);
  const anyResponse = Promise.race(
    sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve))),
  );
  for (const socket of sockets) socket.write(head);
  // The other requests are still queued.
  await anyResponse;
  await server.close();
  const statuses = (await Promise.all(responses)).map(({ status }) => status);
  expect(statuses).toEqual(Array(200).fill(200));
});
