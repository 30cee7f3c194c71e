/**
 * Limits on the open connections of a server.
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
import type { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressBucketKey } from './rate-limit.ts';

const CONNECTIONS_MAX = 4096;
const CONNECTIONS_MIN = 16;
/** The database, threads and the runner have 40 to 60 descriptors; the rest is for webhook attempts and a margin. */
const DESCRIPTORS_RESERVED = 160;
/** The files that the server reads and writes for a run. */
const DESCRIPTORS_PER_SLOT = 4;
/** The socket, and the file of the content on it. */
const DESCRIPTORS_PER_CONNECTION = 2;
const ADDRESS_SHARE = 0.75;

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
  socket: Socket;
  address: string;
  /** Streams of HTTP/2 that are open on the connection. */
  streams: number;
  /** True after a request with a valid token or signature. */
  isTrusted: boolean;
  activeRequests: number;
  /** Called when the connection becomes trusted. */
  onTrust: (() => void) | null;
}

/** The ends of a connection, which name it. A socket of TLS has the same as the connection below it. */
type SocketAddresses = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/** Returns the text that identifies an open connection: its two addresses with their ports. */
export function formatConnectionKey(socket: SocketAddresses): string {
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

/**
 * The open connections of a server; closes some of them for new ones. A stream of HTTP/2 counts as a connection too, because
 * it costs as much: a file, and 64 KiB of unread body.
 */
export class Connections {
  readonly max: number;
  readonly #connections = new Map<object, Connection>();
  /** Connections by their addresses; null while a request always has the accepted socket. */
  #byKey: Map<string, Connection> | null = null;
  readonly #countsByAddress = new Map<string, number>();
  /** Of connections and streams. */
  #count = 0;
  /** Invariant: a connection is in at most one of the sets, which iterate in the order of insertion. */
  readonly #unused = new Set<Connection>();
  readonly #untrusted = new Set<Connection>();
  readonly #idle = new Set<Connection>();

  constructor(max: number) {
    this.max = max;
  }

  /** Finds connections also by their addresses: under TLS, a request has another socket than the accepted one. */
  recogniseByAddress(): void {
    this.#byKey ??= new Map();
  }

  /** Tracks the connections and requests of the server. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.on('request', ({ socket }, response) => {
      const connection = this.#find(socket);
      if (!connection) return;
      connection.activeRequests += 1;
      this.#classify(connection);
      response.once('close', () => {
        connection.activeRequests -= 1;
        if (this.#isOpen(connection)) this.#classify(connection);
      });
    });
  }

  /** Records that a request on the connection has a valid token or signature. */
  trust(socket: Socket): void {
    const connection = this.#find(socket);
    if (!connection || connection.isTrusted) return;
    connection.isTrusted = true;
    this.#classify(connection);
    connection.onTrust?.();
  }

  /** Calls back when a request on the connection has a valid token or signature for the first time. */
  onTrust(socket: Socket, callback: () => void): void {
    const connection = this.#find(socket);
    if (connection) connection.onTrust = callback;
  }

  /** Counts a stream of HTTP/2 until it closes; returns false for one beyond the limits. */
  openStream(socket: Socket, stream: EventEmitter): boolean {
    const connection = this.#find(socket);
    if (!connection) return false;
    const { address, streams } = connection;
    // Only the first stream of a connection may close another connection.
    const hasCapacity = streams === 0 ? this.#hasCapacity(address) : this.#isBelowLimits(address);
    if (!hasCapacity || !this.#isOpen(connection)) return false;
    connection.streams += 1;
    this.#changeCount(address, 1);
    stream.once('close', () => {
      connection.streams -= 1;
      if (this.#isOpen(connection)) this.#changeCount(address, -1);
    });
    return true;
  }

  #find(socket: Socket): Connection | undefined {
    return this.#connections.get(socket) ?? this.#byKey?.get(formatConnectionKey(socket));
  }

  #isOpen({ socket }: Connection): boolean {
    return this.#connections.has(socket);
  }

  #add(socket: Socket): void {
    const address = addressBucketKey(socket.remoteAddress ?? '');
    if (!this.#hasCapacity(address)) {
      socket.destroy();
      return;
    }
    this.#changeCount(address, 1);
    const connection = { socket, address, streams: 0, isTrusted: false, activeRequests: 0, onTrust: null };
    this.#connections.set(socket, connection);
    const key = formatConnectionKey(socket);
    this.#byKey?.set(key, connection);
    this.#classify(connection);
    socket.once('close', () => {
      this.#remove(connection);
      // A new connection may have the addresses of one that this server has closed.
      if (this.#byKey?.get(key) === connection) this.#byKey.delete(key);
    });
  }

  #remove(connection: Connection): void {
    if (!this.#connections.delete(connection.socket)) return;
    for (const group of [this.#unused, this.#untrusted, this.#idle]) group.delete(connection);
    this.#changeCount(connection.address, -1 - connection.streams);
  }

  /** Returns true when the address may open one more; closes another connection for it when the limit is reached. */
  #hasCapacity(address: string): boolean {
    if (this.#isAddressFull(address)) return this.#closeOne(address);
    return this.#count < this.max || this.#closeOne(null);
  }

  #isBelowLimits(address: string): boolean {
    return this.#count < this.max && !this.#isAddressFull(address);
  }

  #isAddressFull(address: string): boolean {
    return (this.#countsByAddress.get(address) ?? 0) >= Math.floor(this.max * ADDRESS_SHARE);
  }

  #changeCount(address: string, difference: number): void {
    this.#count += difference;
    const count = (this.#countsByAddress.get(address) ?? 0) + difference;
    if (count > 0) this.#countsByAddress.set(address, count);
    else this.#countsByAddress.delete(address);
  }

  /** Closes one connection of the address, or of any address for null; returns false when all of them are in use. */
  #closeOne(address: string | null): boolean {
    for (const group of [this.#unused, this.#untrusted, this.#idle]) {
      for (const connection of group) {
        if (address !== null && connection.address !== address) continue;
        this.#remove(connection);
        connection.socket.destroy();
        return true;
      }
    }
    return false;
  }

  /** Puts the connection into the group of its state; a trusted one with an active request is in none. */
  #classify(connection: Connection): void {
    const { isTrusted, activeRequests } = connection;
    const isActive = activeRequests > 0;
    const group = isActive ? (isTrusted ? null : this.#untrusted) : isTrusted ? this.#idle : this.#unused;
    for (const other of [this.#unused, this.#untrusted, this.#idle])
      if (other !== group) other.delete(connection);
    group?.add(connection);
  }
}
