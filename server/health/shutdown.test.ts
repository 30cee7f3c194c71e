import { Agent, request } from 'node:http';
import { expect, test } from 'vitest';
import { openSocket, readResponse } from '../testing/http/raw-sockets.ts';
import { startTestServer } from '../testing/servers/test-server.ts';

test('a stop does not wait for connections that are kept alive', async () => {
  const server = await startTestServer();
  const agent = new Agent({ keepAlive: true });
  const get = () =>
    new Promise<number>((resolve, reject) => {
      const asked = request(`${server.url}/healthz`, { agent }, (answer) => {
        answer.resume();
        answer.once('end', () => resolve(answer.statusCode ?? 0));
      });
      asked.once('error', reject);
      asked.end();
    });
  try {
    expect(await Promise.all(Array.from({ length: 8 }, get))).toEqual(Array(8).fill(200));
    // One more is under way when the stop begins, and its connection falls idle after.
    const last = get().catch(() => 0);
    await server.close();
    expect([0, 200]).toContain(await last);
  } finally {
    agent.destroy();
  }
}, 9000);

test('a stop answers every request that came before it', async () => {
  const server = await startTestServer();
  const head = `GET /v1/account HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n\r\n`;
  const sockets = await Promise.all(Array.from({ length: 200 }, () => openSocket(server.url)));
  const firstOf = sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve)));
  for (const socket of sockets) socket.write(head);
  await Promise.all(firstOf);
  const answers = sockets.map(readResponse);
  const one = Promise.race(sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve))));
  for (const socket of sockets) socket.write(head);
  // The others wait for their turn.
  await one;
  await server.close();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses).toEqual(Array(200).fill(200));
}, 20_000);
