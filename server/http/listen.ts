/** Where the server is reached, from the first connection to the last. */
import { type AddressInfo, isIPv6 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';

const CLOSE_TIMEOUT_MS = 10_000;

/**
 * Takes no new connection, lets requests under way finish, and closes each connection as it falls idle: one that is kept
 * alive would otherwise hold the server until its time is over. What takes longer is cut off.
 */
export async function closeHttp(http: FastifyInstance): Promise<void> {
  const idle = setInterval(() => http.server.closeIdleConnections(), 50);
  const late = setTimeout(() => http.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  try {
    await http.close();
  } finally {
    clearInterval(idle);
    clearTimeout(late);
  }
}

/** Answers where it listens, without a trailing slash. */
export async function listen(http: FastifyInstance, config: Config): Promise<string> {
  await http.listen({ host: config.host, port: config.port });
  const { address, port } = http.server.address() as AddressInfo;
  const wildcard = address === '0.0.0.0' || address === '::';
  const host = wildcard ? '127.0.0.1' : isIPv6(address) ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
