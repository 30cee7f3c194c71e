/** Opens the listening socket of the HTTP server, and closes it without cutting requests. */
import { once } from 'node:events';
import { createServer, isIPv6 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';

const CLOSE_TIMEOUT_MS = 10_000;
const IDLE_CHECK_INTERVAL_MS = 50;

/**
 * Accepts no new connection, finishes the current requests, and closes each connection when it becomes idle. A keep-alive
 * connection would otherwise delay the end of the server until its timeout. After 10 s it closes all connections.
 */
export async function closeHttp(http: FastifyInstance): Promise<void> {
  const closeIdle = setInterval(() => http.server.closeIdleConnections(), IDLE_CHECK_INTERVAL_MS);
  const closeAll = setTimeout(() => http.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  try {
    await http.close();
  } finally {
    clearInterval(closeIdle);
    clearTimeout(closeAll);
  }
}

/** Throws when the server could not listen, for example because the port is in use. It listens for a moment. */
export async function checkAddress({ host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  const probe = createServer((socket) => socket.destroy());
  probe.listen({ host, port });
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
}

/** Starts to listen, and returns the URL of the server without a trailing slash. Throws when the port is in use. */
export async function listen(http: FastifyInstance, config: Config): Promise<string> {
  await http.listen({ host: config.host, port: config.port });
  const bound = http.server.address();
  if (bound === null || typeof bound === 'string')
    throw new Error(`The server listens on ${bound}: not a TCP port. Set a host and a port.`);
  const { address, port } = bound;
  const isWildcard = address === '0.0.0.0' || address === '::';
  const host = isWildcard ? '127.0.0.1' : isIPv6(address) ? `[${address}]` : address;
  return `${config.tls ? 'https' : 'http'}://${host}:${port}`;
}
