import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTurn } from './in-turn.ts';

const CALLERS = 200;
/** Node says it of requests by their connection. */
const answered = new Map<unknown, number>();
let most = 0;
const all = Promise.withResolvers<void>();
const server = createServer(
  inTurn((request, response) => {
    const times = (answered.get(request.socket) ?? 0) + 1;
    answered.set(request.socket, times);
    most = Math.max(most, times);
    if (answered.size === CALLERS) all.resolve();
    response.end();
  }),
);
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('callers who come all at once have their first answer before others have had many', async () => {
  const { port } = server.address() as AddressInfo;
  const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const sockets = Array.from({ length: CALLERS }, () => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.on('data', () => socket.write(request));
    socket.on('error', () => {});
    return socket;
  });
  await all.promise;
  const before = most;
  for (const socket of sockets) socket.destroy();
  expect(before).toBeLessThan(CALLERS / 5);
});
