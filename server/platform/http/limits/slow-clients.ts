/**
 * Closes connections, and streams of HTTP/2, whose caller hardly sends or reads.
 *
 * A body has a time allowance. Each check spends from it, and every received byte earns a millisecond, up to the initial
 * allowance. So a body of 500 MB over a slow line succeeds, and one of a byte a minute does not. A response goes out in
 * chunks of 64 KiB, and the caller has to read one of them in two minutes.
 *
 * The limits are stricter while other requests wait for the memory that these connections hold. A body then has a third of
 * the time and needs 96 kB a second, and a response has an eighth of the time.
 *
 * Counts checks, not wall time, so that a busy server or a clock that is set forward costs no caller its allowance.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { constants, Http2ServerRequest, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../clock.ts';
import { badRequest } from '../errors/problem.ts';

const DEFAULT_LIMITS: SlowClientLimits = {
  checkIntervalMs: 5_000,
  bodyTimeoutMs: 30_000,
  responseTimeoutMs: 120_000,
};
/** Bytes of a body that earn a millisecond. */
const BYTES_PER_MS = 1;
/** The same while memory is contended, and the factors by which allowances then run out faster. */
const CONTENDED_BYTES_PER_MS = 32;
const CONTENDED_BODY_FACTOR = 3;
const CONTENDED_RESPONSE_FACTOR = 8;
const SLOW_BODY_MESSAGE = `The body of the request came too slowly: after ${DEFAULT_LIMITS.bodyTimeoutMs / 1000} s it has to come at ${BYTES_PER_MS * 1000} bytes a second. Send it again over a faster connection.`;

interface IncomingBody {
  request: IncomingMessage;
  response: ServerResponse;
  /** Bytes that the socket had received at the last check. */
  receivedBytes: number;
  remainingMs: number;
}

interface OutgoingData {
  /** Bytes that the socket had sent at the last check. */
  sentBytes: number;
  remainingMs: number;
}

interface Connection {
  /** The body that the connection receives now. */
  body: IncomingBody | null;
  outgoing: OutgoingData;
}

/** Closes slow connections of the server until the server closes. */
export function closeSlowClients(
  server: Server,
  options: {
    clock: Clock;
    limits?: SlowClientLimits | undefined;
    /** True while requests wait for memory that others hold. */
    isMemoryContended(): boolean;
    /** Returns the whole HTTP response to a caller whose body came too slowly. */
    formatRefusal(message: string): string;
  },
): void {
  const { clock, formatRefusal, isMemoryContended, limits = DEFAULT_LIMITS } = options;
  const connections = new Map<Socket, Connection>();
  const streams = new SlowStreams(limits);
  let cancelCheck = (): void => {};

  const addConnection = (socket: Socket): void => {
    const outgoing = { sentBytes: 0, remainingMs: limits.responseTimeoutMs };
    connections.set(socket, { body: null, outgoing });
    socket.once('close', () => connections.delete(socket));
  };
  server.on('connection', addConnection);
  server.on('secureConnection', addConnection);
  server.on('request', (request: unknown) => {
    if (request instanceof Http2ServerRequest) streams.add(request);
  });
  server.on('request', (request, response) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    const connection = connections.get(request.socket);
    if (!connection || (encoding === undefined && !(Number(length) > 0))) return;
    const receivedBytes = request.socket.bytesRead;
    connection.body = { request, response, receivedBytes, remainingMs: limits.bodyTimeoutMs };
  });

  const checkConnections = (): void => {
    const context = { limits, isContended: isMemoryContended() };
    for (const [socket, connection] of connections) {
      if (isBodyTooSlow(socket, connection, context)) refuse(socket, connection);
      else if (isResponseUnread(socket, connection.outgoing, context)) socket.destroy();
    }
    streams.check(context);
    scheduleCheck();
  };
  const refuse = (socket: Socket, { body }: Connection): void => {
    if (body?.response.headersSent === false) socket.write(formatRefusal(SLOW_BODY_MESSAGE));
    socket.destroySoon();
  };
  const scheduleCheck = (): void => {
    cancelCheck = clock.after(limits.checkIntervalMs, checkConnections);
  };

  server.once('listening', scheduleCheck);
  server.once('close', () => cancelCheck());
}

/** Updates the allowance of the body, and returns true when none of it remains. */
function isBodyTooSlow({ bytesRead }: Socket, connection: Connection, context: CheckContext): boolean {
  const { body } = connection;
  if (body === null) return false;
  const { request } = body;
  if (request.complete || request.destroyed) {
    connection.body = null;
    return false;
  }
  const newBytes = bytesRead - body.receivedBytes;
  body.receivedBytes = bytesRead;
  // Received bytes that the server has not read yet mean that its disk or database is slow, not the caller.
  const earnedBytes = request.readableLength > 0 ? Number.POSITIVE_INFINITY : newBytes;
  body.remainingMs = spendBodyAllowance(body.remainingMs, earnedBytes, context);
  return body.remainingMs < 0;
}

/** Updates the allowance of the response, and returns true when none of it remains. */
function isResponseUnread(socket: Socket, outgoing: OutgoingData, context: CheckContext): boolean {
  const sentBytes = socket.bytesWritten - socket.writableLength;
  const isRead = socket.writableLength === 0 || sentBytes !== outgoing.sentBytes;
  outgoing.sentBytes = sentBytes;
  outgoing.remainingMs = spendResponseAllowance(outgoing.remainingMs, isRead, context);
  return outgoing.remainingMs < 0;
}

interface WatchedStream {
  request: Http2ServerRequest;
  /** null once the body is complete, and for a request without one. */
  bodyMs: number | null;
  responseMs: number;
  /** Bytes that waited to be sent at the last check. */
  waitingBytes: number;
  hasDrained: boolean;
}

/**
 * The open streams of HTTP/2 of a server. A connection has many, so its socket says nothing about one of them:
 * - The bytes that a connection receives count for its open bodies in equal parts. So a caller that holds a hundred bodies
 *   has to send a hundred times as much as one with a single body.
 * - A response is read when the chunk that waits becomes smaller, or the stream asks for the next one.
 */
class SlowStreams {
  readonly #limits: SlowClientLimits;
  readonly #streams = new Map<ServerHttp2Stream, WatchedStream>();
  /** Bytes that a session had received at the last check. */
  readonly #receivedBySession = new WeakMap<object, number>();

  constructor(limits: SlowClientLimits) {
    this.#limits = limits;
  }

  /** Watches the stream of a request until it closes. */
  add(request: Http2ServerRequest): void {
    const { stream } = request;
    const { session } = stream;
    if (!session || stream.destroyed) return;
    if (!this.#receivedBySession.has(session)) this.#receivedBySession.set(session, session.socket.bytesRead);
    const watched: WatchedStream = {
      request,
      bodyMs: stream.endAfterHeaders ? null : this.#limits.bodyTimeoutMs,
      responseMs: this.#limits.responseTimeoutMs,
      waitingBytes: 0,
      hasDrained: false,
    };
    stream.on('drain', () => {
      watched.hasDrained = true;
    });
    this.#streams.set(stream, watched);
    stream.once('close', () => this.#streams.delete(stream));
  }

  /** Updates all allowances. Refuses a body, and closes a stream, whose allowance is used up. */
  check(context: CheckContext): void {
    const earnedBySession = this.#shareReceivedBytes();
    for (const [stream, watched] of this.#streams) {
      if (watched.bodyMs !== null) this.#checkBody(stream, watched, earnedBySession, context);
      const bytes = stream.writableLength;
      const isRead = bytes === 0 || bytes < watched.waitingBytes || watched.hasDrained;
      watched.waitingBytes = bytes;
      watched.hasDrained = false;
      watched.responseMs = spendResponseAllowance(watched.responseMs, isRead, context);
      if (watched.responseMs < 0) stream.close(constants.NGHTTP2_CANCEL);
    }
  }

  #checkBody(
    stream: ServerHttp2Stream,
    watched: WatchedStream,
    earnedBySession: ReadonlyMap<object, number>,
    context: CheckContext,
  ): void {
    const { request } = watched;
    if (stream.readableEnded) {
      watched.bodyMs = null;
      return;
    }
    // Received bytes that the server has not read yet mean that its disk or database is slow, not the caller.
    const isServerSlow = request.readableLength > 0 || stream.readableLength > 0;
    const earned = isServerSlow ? Number.POSITIVE_INFINITY : (earnedBySession.get(stream.session ?? {}) ?? 0);
    const remainingMs = spendBodyAllowance(watched.bodyMs ?? 0, earned, context);
    watched.bodyMs = remainingMs;
    if (remainingMs >= 0) return;
    // The first time, the operation refuses its body with the sentence. A handler that does not even notice loses the stream.
    if (request.destroyed) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    else request.destroy(badRequest(SLOW_BODY_MESSAGE));
  }

  /** Returns the bytes that each session has received since the last check, divided by its open bodies. */
  #shareReceivedBytes(): Map<object, number> {
    const bodies = new Map<NonNullable<ServerHttp2Stream['session']>, number>();
    for (const [{ session }, { bodyMs }] of this.#streams)
      if (session && bodyMs !== null) bodies.set(session, (bodies.get(session) ?? 0) + 1);
    const shares = new Map<object, number>();
    for (const [session, count] of bodies) {
      const received = session.destroyed ? 0 : session.socket.bytesRead;
      shares.set(session, (received - (this.#receivedBySession.get(session) ?? received)) / count);
      this.#receivedBySession.set(session, received);
    }
    return shares;
  }
}

/** The limits of one server for slow callers. */
export interface SlowClientLimits {
  /** The time between two checks of all connections. */
  checkIntervalMs: number;
  /** The time that a body may stand still, at its beginning and later. */
  bodyTimeoutMs: number;
  /** The time in which the caller has to read some of a response. */
  responseTimeoutMs: number;
}

/** Limits under the current state of the memory. */
interface CheckContext {
  limits: SlowClientLimits;
  isContended: boolean;
}

/** Returns the allowance of a body after a check; it is used up below 0. `earnedBytes` came since the check before. */
function spendBodyAllowance(
  remainingMs: number,
  earnedBytes: number,
  { limits, isContended }: CheckContext,
): number {
  const earnedMs = earnedBytes / (isContended ? CONTENDED_BYTES_PER_MS : BYTES_PER_MS);
  const spentMs = limits.checkIntervalMs * (isContended ? CONTENDED_BODY_FACTOR : 1);
  return Math.min(limits.bodyTimeoutMs, remainingMs + earnedMs) - spentMs;
}

/** Returns the allowance of a response after a check; it is used up below 0. */
function spendResponseAllowance(
  remainingMs: number,
  isRead: boolean,
  { limits, isContended }: CheckContext,
): number {
  if (isRead) return limits.responseTimeoutMs;
  return remainingMs - limits.checkIntervalMs * (isContended ? CONTENDED_RESPONSE_FACTOR : 1);
}
