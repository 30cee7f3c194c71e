/** Node's HTTP server in front of the operations: its limits, its transport, and the requests that are not valid HTTP. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Http2ServerRequest } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { badRequest, Problem } from '../errors/problem.ts';
import { formatRawRefusal } from '../errors/raw-refusal.ts';
import { Accepts } from '../limits/accepts.ts';
import type { Connections } from '../limits/connections.ts';
import { fairly } from '../limits/fair-request-queue.ts';
import { feedRequests } from '../limits/request-feed.ts';
import { closeSlowClients, type SlowClientLimits } from '../limits/slow-clients.ts';
import { serveTls, type TlsOptions } from './tls-server.ts';

const HEADER_BYTES_MAX = 32 * 1024;
const HEADERS_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

const DRAIN_MS = 1200;

/** The limits of a server on its connections, and the clock for its checks. */
export interface ConnectionLimits {
  clock: Clock;
  /** The time that a caller has to send its headers. */
  headersTimeoutMs?: number;
  slowClientLimits?: SlowClientLimits;
  /** The maximum of open connections; see `computeConnectionsMax`. */
  connectionsMax: number;
  /** The certificate of a server that accepts TLS alone; without it the server accepts plain HTTP. */
  tls?: TlsOptions | undefined;
  /** The time that a caller has to complete the handshake of TLS. */
  handshakeTimeoutMs?: number;
}

/** Creates a server with a time limit for each phase of a request: headers, body and response. */
export function createNodeServer(
  handle: RequestListener,
  {
    clock,
    headersTimeoutMs = HEADERS_TIMEOUT_MS,
    slowClientLimits,
    connections,
    isShort,
    tls,
    handshakeTimeoutMs,
    log,
  }: ConnectionLimits & {
    connections: Connections;
    log: Log;
    /** True while requests wait for memory that slow callers hold. */
    isShort(): boolean;
  },
): Server {
  const accepts = new Accepts();
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: headersTimeoutMs,
      // Node checks for slow headers at this interval.
      connectionsCheckingInterval: headersTimeoutMs / 6,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // `rejectAmbiguousHeaders` refuses its absence, so that request-feed.ts sees every request.
      requireHostHeader: false,
      // Bodies have a minimum rate instead of a deadline; see slow-clients.ts.
      requestTimeout: 0,
    },
    fairly(handle, accepts),
  );
  if (tls)
    serveTls(server, tls, {
      ...{ connections, accepts, log, handshakeTimeoutMs },
      headerBytesMax: HEADER_BYTES_MAX,
      idleTimeoutMs: KEEP_ALIVE_TIMEOUT_MS,
    });
  server.on('connection', () => accepts.add());
  feedRequests(server, tls ? 'secureConnection' : 'connection');
  connections.watch(server);
  // HTTP allows a server to ignore an unknown expectation; Node would return 417, which no operation declares.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  drainUnreadBodies(server, clock);
  closeSlowClients(server, {
    clock,
    limits: slowClientLimits,
    isMemoryContended: isShort,
    formatRefusal: formatRawRefusal,
  });
  return server;
}

/** Sends a 400 for a request that is not valid HTTP, if the socket is still writable, and closes the connection. */
export function rejectConnection(error: { code: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  socket.end(formatRawRefusal(`The request is not valid HTTP: ${error.code}. Send an HTTP/1.1 request.`));
}

/** For a repeated one of these, a proxy in front of the server may use another value than the server does. */
const SINGLE_VALUE_HEADERS = new Set(['host', 'authorization', 'idempotency-key']);

/** Throws the 400 for headers with two possible meanings; Node itself refuses the other ambiguous ones. */
export function rejectAmbiguousHeaders({ raw }: FastifyRequest): void {
  const authority = raw.headers[':authority'];
  const { host } = raw.headers;
  if (raw.httpVersionMajor === 2 && (host === undefined || (authority !== undefined && host !== authority)))
    throw badRequest('The request needs one host: send :authority, and no Host header that differs from it.');
  if (raw.httpVersion === '1.1' && host === undefined)
    throw new Problem(400, 'The request has no Host header; HTTP/1.1 requires one.', { connection: 'close' });
  const seen = new Set<string>();
  // `rawHeaders` alternates names and values.
  for (const rawName of raw.rawHeaders.filter((_, index) => index % 2 === 0)) {
    const name = rawName.toLowerCase();
    if (!SINGLE_VALUE_HEADERS.has(name)) continue;
    if (seen.has(name)) throw badRequest(`The request repeats the header ${name}. Send it once.`);
    seen.add(name);
  }
  const encoding = raw.headers['transfer-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'chunked')
    throw badRequest(`The Transfer-Encoding is ${JSON.stringify(encoding)}; it must be chunked.`);
}

/**
 * Discards the rest of a body of HTTP/1.1 for a second after the response to its request, and then closes the connection.
 * Many clients read the response only after they have sent the whole body. When the rest of a refused upload was not read,
 * such a client waited 73 s for the end of its connection. When the server closes at once, the unread bytes reset the
 * connection, and the client may lose the response.
 */
function drainUnreadBodies(server: Server, clock: Clock): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request instanceof Http2ServerRequest) return;
    // Before the listener of Node, which closes the connection of a last response.
    response.prependOnceListener('finish', () => {
      if (!request.complete && !request.socket.destroyed) drainAndClose(request, clock);
    });
  });
}

/** A body that ends in time leaves the connection open for the next request. */
function drainAndClose(request: IncomingMessage, clock: Clock): void {
  const { socket } = request;
  const destroySoon = socket.destroySoon.bind(socket);
  // The caller reads the end of the connection behind the response, and request-feed.ts discards what still arrives.
  socket.destroySoon = () => {
    socket.end();
  };
  const cancel = clock.after(DRAIN_MS, destroySoon);
  request.once('end', () => {
    cancel();
    socket.destroySoon = destroySoon;
  });
  socket.once('close', cancel);
  request.resume();
}
