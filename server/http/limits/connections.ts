/**
 * Node's HTTP server in front of the operations: its limits, its connections, and the requests that are not valid HTTP.
 *
 * Each connection needs a descriptor, and so does the content that the server sends on it. A process without descriptors
 * can neither open its database nor start an app. So the server accepts fewer connections than it has descriptors, and at
 * most three quarters of them from one address.
 *
 * When a new connection exceeds a limit, the server closes an older one. A connection is trusted after a request with a
 * valid token or signature. The server closes the oldest connection of the first group that is not empty:
 * 1. Untrusted connections without an active request.
 * 2. Untrusted connections with an active request.
 * 3. Trusted connections without an active request.
 * It closes the new connection when all groups are empty.
 */
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../clock.ts';
import { badRequest, formatErrorBody } from '../errors/problem.ts';
import { fairly } from './fair-request-queue.ts';
import { addressBucketKey } from './rate-limit.ts';
import { closeSlowClients, type SlowClientLimits } from './slow-clients.ts';

const HEADER_BYTES_MAX = 32 * 1024;
const HEADERS_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const CONNECTIONS_MAX = 4096;
const CONNECTIONS_MIN = 16;
/** The database, threads and the runner have 40 to 60 descriptors; the rest is for webhook attempts and a margin. */
const DESCRIPTORS_RESERVED = 160;
/** The files that the server reads and writes for a run. */
const DESCRIPTORS_PER_SLOT = 4;
/** The socket, and the file of the content on it. */
const DESCRIPTORS_PER_CONNECTION = 2;
const ADDRESS_SHARE = 0.75;

/** The limits of a server on its connections, and the clock for its checks. */
export interface ConnectionLimits {
  clock: Clock;
  /** The time that a caller has to send its headers. */
  headersTimeoutMs?: number;
  slowClientLimits?: SlowClientLimits;
  /** The maximum of open connections; see `computeConnectionsMax`. */
  connectionsMax: number;
}

/** Returns the maximum of connections for a process with so many descriptors and slots for runs. */
export function computeConnectionsMax(descriptors: number, slots: number): number {
  const reserved = DESCRIPTORS_RESERVED + slots * DESCRIPTORS_PER_SLOT;
  const affordable = Math.floor((descriptors - reserved) / DESCRIPTORS_PER_CONNECTION);
  return Math.max(CONNECTIONS_MIN, Math.min(CONNECTIONS_MAX, affordable));
}

/** Returns the soft limit of this process on open descriptors; Node raises it to the hard limit at its start. */
export function readDescriptorLimit(): number {
  const [, softLimit] = /^Max open files\s+(\d+|unlimited)/m.exec(readProcessLimits()) ?? [];
  if (softLimit !== undefined)
    return softLimit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(softLimit);
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const reported = Number(report.userLimits?.open_files?.soft);
  return Number.isFinite(reported) ? reported : Number.POSITIVE_INFINITY;
}

/** Returns an empty text on a system without /proc, where the report of the process has the limit. */
function readProcessLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

interface Connection {
  address: string;
  /** True after a request with a valid token or signature. */
  isTrusted: boolean;
  activeRequests: number;
}

/** The open connections of a server; closes some of them for new ones. */
export class Connections {
  readonly max: number;
  readonly #connections = new Map<Socket, Connection>();
  readonly #countsByAddress = new Map<string, number>();
  /** Invariant: a socket is in at most one of the sets, which iterate in the order of insertion. */
  readonly #unused = new Set<Socket>();
  readonly #untrusted = new Set<Socket>();
  readonly #idle = new Set<Socket>();

  constructor(max: number) {
    this.max = max;
  }

  /** Tracks the connections and requests of the server. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.on('request', ({ socket }, response) => {
      const connection = this.#connections.get(socket);
      if (!connection) return;
      connection.activeRequests += 1;
      this.#classify(socket, connection);
      response.once('close', () => {
        connection.activeRequests -= 1;
        if (this.#connections.has(socket)) this.#classify(socket, connection);
      });
    });
  }

  /** Records that a request on the connection has a valid token or signature. */
  trust(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (!connection) return;
    connection.isTrusted = true;
    this.#classify(socket, connection);
  }

  #add(socket: Socket): void {
    const address = addressBucketKey(socket.remoteAddress ?? '');
    const addressCount = this.#countsByAddress.get(address) ?? 0;
    const isFull =
      addressCount >= Math.floor(this.max * ADDRESS_SHARE)
        ? !this.#closeOne(address)
        : this.#connections.size >= this.max && !this.#closeOne(null);
    if (isFull) {
      socket.destroy();
      return;
    }
    // Read again: closing a connection changes the count.
    this.#countsByAddress.set(address, (this.#countsByAddress.get(address) ?? 0) + 1);
    const connection = { address, isTrusted: false, activeRequests: 0 };
    this.#connections.set(socket, connection);
    this.#classify(socket, connection);
    socket.once('close', () => this.#remove(socket));
  }

  #remove(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (!connection) return;
    this.#connections.delete(socket);
    for (const sockets of [this.#unused, this.#untrusted, this.#idle]) sockets.delete(socket);
    const remaining = (this.#countsByAddress.get(connection.address) ?? 1) - 1;
    if (remaining > 0) this.#countsByAddress.set(connection.address, remaining);
    else this.#countsByAddress.delete(connection.address);
  }

  /** Closes one connection of the address, or of any address for null; returns false when all of them are in use. */
  #closeOne(address: string | null): boolean {
    for (const sockets of [this.#unused, this.#untrusted, this.#idle]) {
      for (const socket of sockets) {
        if (address !== null && this.#connections.get(socket)?.address !== address) continue;
        this.#remove(socket);
        socket.destroy();
        return true;
      }
    }
    return false;
  }

  /** Puts the socket into the group of its state; a trusted connection with an active request is in none. */
  #classify(socket: Socket, { isTrusted, activeRequests }: Connection): void {
    const isActive = activeRequests > 0;
    const group = isActive ? (isTrusted ? null : this.#untrusted) : isTrusted ? this.#idle : this.#unused;
    for (const sockets of [this.#unused, this.#untrusted, this.#idle])
      if (sockets !== group) sockets.delete(socket);
    group?.add(socket);
  }
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
  }: ConnectionLimits & {
    connections: Connections;
    /** True while requests wait for memory that slow callers hold. */
    isShort(): boolean;
  },
): Server {
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: headersTimeoutMs,
      // Node checks for slow headers at this interval.
      connectionsCheckingInterval: headersTimeoutMs / 6,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // Bodies have a minimum rate instead of a deadline; see slow-clients.ts.
      requestTimeout: 0,
    },
    fairly(handle),
  );
  connections.watch(server);
  // HTTP allows a server to ignore an unknown expectation; Node would return 417, which no operation declares.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
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

/** Returns a whole 400 response, for connections on which Node has no response object. */
function formatRawRefusal(message: string): string {
  const body = JSON.stringify(formatErrorBody(400, message));
  return `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}

/** For a repeated one of these, a proxy in front of the server may use another value than the server does. */
const SINGLE_VALUE_HEADERS = new Set(['host', 'authorization', 'idempotency-key']);

/** Throws the 400 for headers with two possible meanings; Node itself refuses the other ambiguous ones. */
export function rejectAmbiguousHeaders({ raw }: FastifyRequest): void {
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
