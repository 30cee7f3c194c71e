/**
 * What stands before the operations: the server of Node with its limits, and what of HTTP is not taken.
 *
 * Each connection takes a descriptor, and so does the content it is sent; a process that has none left can neither open its
 * database nor start an app. So there are fewer connections than descriptors, one address has three quarters of them at
 * most, and where there is no room for a new one the oldest of these is closed: one that has not yet sent a request, then one
 * whose request has shown no token or signature, then one that is idle.
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
/** For the database, threads and the runner, which have 40 to 60, for attempts on webhooks, and for what nobody counted. */
const DESCRIPTORS_RESERVED = 160;
/** For the files that a run is read from and written to. */
const DESCRIPTORS_PER_SLOT = 4;
/** The socket, and the content that is sent or received on it. */
const DESCRIPTORS_PER_CONNECTION = 2;
const ADDRESS_SHARE = 0.75;

export interface ConnectionLimits {
  clock: Clock;
  /** How long a caller may take to send its headers. */
  headersTimeoutMs?: number;
  slowClientLimits?: SlowClientLimits;
  /** How many connections there may be; see `computeConnectionsMax`. */
  connectionsMax: number;
}

/** Connections for a process that may open so many descriptors and runs so many apps at once. */
export function computeConnectionsMax(descriptors: number, slots: number): number {
  const reserved = DESCRIPTORS_RESERVED + slots * DESCRIPTORS_PER_SLOT;
  const most = Math.floor((descriptors - reserved) / DESCRIPTORS_PER_CONNECTION);
  return Math.max(CONNECTIONS_MIN, Math.min(CONNECTIONS_MAX, most));
}

/** The soft limit of this process on open descriptors, which Node raises to the hard one as it starts. */
export function readDescriptorLimit(): number {
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readLimits()) ?? [];
  if (soft !== undefined) return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const reported = Number(report.userLimits?.open_files?.soft);
  return Number.isFinite(reported) ? reported : Number.POSITIVE_INFINITY;
}

/** Empty where the kernel is not Linux. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

interface Connection {
  address: string;
  /** Whether a request on it has shown a token or a signature that is good. */
  isTrusted: boolean;
  /** Requests whose response has not ended. */
  requests: number;
}

/** The connections of a server, of which it closes some to make room for others. */
export class Connections {
  readonly max: number;
  readonly #all = new Map<Socket, Connection>();
  readonly #addresses = new Map<string, number>();
  /** Each is ordered by when its connections came into it, and closed in this order. */
  readonly #unused = new Set<Socket>();
  readonly #unproven = new Set<Socket>();
  readonly #idle = new Set<Socket>();

  constructor(max: number) {
    this.max = max;
  }

  /** Keeps account of the server's connections. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#enter(socket));
    server.on('request', ({ socket }, response) => {
      const connection = this.#all.get(socket);
      if (!connection) return;
      connection.requests += 1;
      this.#sort(socket, connection);
      response.once('close', () => {
        connection.requests -= 1;
        if (this.#all.has(socket)) this.#sort(socket, connection);
      });
    });
  }

  /** The request on the connection has shown a token or a signature that is good. */
  trust(socket: Socket): void {
    const connection = this.#all.get(socket);
    if (!connection) return;
    connection.isTrusted = true;
    this.#sort(socket, connection);
  }

  #enter(socket: Socket): void {
    const address = addressBucketKey(socket.remoteAddress ?? '');
    const ofAddress = this.#addresses.get(address) ?? 0;
    const isFull =
      ofAddress >= Math.floor(this.max * ADDRESS_SHARE)
        ? !this.#makeRoom(address)
        : this.#all.size >= this.max && !this.#makeRoom(null);
    if (isFull) {
      socket.destroy();
      return;
    }
    this.#addresses.set(address, (this.#addresses.get(address) ?? 0) + 1);
    const connection = { address, isTrusted: false, requests: 0 };
    this.#all.set(socket, connection);
    this.#sort(socket, connection);
    socket.once('close', () => this.#leave(socket));
  }

  #leave(socket: Socket): void {
    const connection = this.#all.get(socket);
    if (!connection) return;
    this.#all.delete(socket);
    for (const one of [this.#unused, this.#unproven, this.#idle]) one.delete(socket);
    const left = (this.#addresses.get(connection.address) ?? 1) - 1;
    if (left > 0) this.#addresses.set(connection.address, left);
    else this.#addresses.delete(connection.address);
  }

  /** Closes one connection, of the address where one is given; false when all of them are in use. */
  #makeRoom(address: string | null): boolean {
    for (const sockets of [this.#unused, this.#unproven, this.#idle]) {
      for (const socket of sockets) {
        if (address !== null && this.#all.get(socket)?.address !== address) continue;
        this.#leave(socket);
        socket.destroy();
        return true;
      }
    }
    return false;
  }

  #sort(socket: Socket, { isTrusted, requests }: Connection): void {
    const place = requests > 0 ? (isTrusted ? null : this.#unproven) : isTrusted ? this.#idle : this.#unused;
    for (const one of [this.#unused, this.#unproven, this.#idle]) if (one !== place) one.delete(socket);
    place?.add(socket);
  }
}

/** A server that waits for no caller without end. */
export function createNodeServer(
  answer: RequestListener,
  {
    clock,
    headersTimeoutMs: headersMs = HEADERS_TIMEOUT_MS,
    slowClientLimits: patience,
    connections,
    isShort,
  }: ConnectionLimits & { connections: Connections; isShort(): boolean },
): Server {
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: headersMs,
      // Node looks for slow callers this often.
      connectionsCheckingInterval: headersMs / 6,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // Bodies have a pace in place of an end.
      requestTimeout: 0,
    },
    fairly(answer),
  );
  connections.watch(server);
  // An expectation that is not known may be left aside; Node would answer 417, which no operation declares.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  closeSlowClients(server, { clock, patience, isShort, refusal: rawRefusal });
  return server;
}

/** Answers what is no HTTP, where an answer can still be read, and closes. */
export function rejectConnection(error: { code: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  socket.end(rawRefusal(`The request is not HTTP that can be read: ${error.code}.`));
}

/** A whole 400, for where there is no reply to write it to. */
function rawRefusal(sentence: string): string {
  const body = JSON.stringify(formatErrorBody(400, sentence));
  return `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}

/** Of these, a proxy before us may look at another one than we do. */
const SINGLE_VALUE_HEADERS = new Set(['host', 'authorization', 'idempotency-key']);

/** Throws the 400 for what can be understood in two ways. Node itself refuses what it knows to be so. */
export function rejectAmbiguousHeaders({ raw }: FastifyRequest): void {
  const { rawHeaders } = raw;
  const seen: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (!SINGLE_VALUE_HEADERS.has(name)) continue;
    if (seen.includes(name)) throw badRequest(`The header ${name} is given more than once; give it once.`);
    seen.push(name);
  }
  const encoding = raw.headers['transfer-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'chunked')
    throw badRequest(`The Transfer-Encoding is ${JSON.stringify(encoding)}; it must be chunked.`);
}
