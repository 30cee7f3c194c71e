/**
 * Closes connections whose caller hardly sends or reads.
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
import type { Socket } from 'node:net';
import type { Clock } from '../../clock.ts';

/** The limits of one server for slow callers. */
export interface SlowClientLimits {
  /** The time between two checks of all connections. */
  checkIntervalMs: number;
  /** The time that a body may stand still, at its beginning and later. */
  bodyTimeoutMs: number;
  /** The time in which the caller has to read some of a response. */
  responseTimeoutMs: number;
}

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

/** Limits under the current state of the memory. */
interface CheckContext {
  limits: SlowClientLimits;
  isContended: boolean;
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
  let cancelCheck = (): void => {};

  server.on('connection', (socket: Socket) => {
    const outgoing = { sentBytes: 0, remainingMs: limits.responseTimeoutMs };
    connections.set(socket, { body: null, outgoing });
    socket.once('close', () => connections.delete(socket));
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
function isBodyTooSlow(
  { bytesRead }: Socket,
  connection: Connection,
  { limits, isContended }: CheckContext,
): boolean {
  const { body } = connection;
  if (body === null) return false;
  const { request } = body;
  if (request.complete || request.destroyed) {
    connection.body = null;
    return false;
  }
  const newBytes = bytesRead - body.receivedBytes;
  body.receivedBytes = bytesRead;
  const bytesPerMs = isContended ? CONTENDED_BYTES_PER_MS : BYTES_PER_MS;
  // Received bytes that the server has not read yet mean that its disk or database is slow, not the caller.
  const earnedMs = request.readableLength > 0 ? limits.bodyTimeoutMs : newBytes / bytesPerMs;
  const spentMs = limits.checkIntervalMs * (isContended ? CONTENDED_BODY_FACTOR : 1);
  body.remainingMs = Math.min(limits.bodyTimeoutMs, body.remainingMs + earnedMs) - spentMs;
  return body.remainingMs < 0;
}

/** Updates the allowance of the response, and returns true when none of it remains. */
function isResponseUnread(
  socket: Socket,
  outgoing: OutgoingData,
  { limits, isContended }: CheckContext,
): boolean {
  const sentBytes = socket.bytesWritten - socket.writableLength;
  const isRead = socket.writableLength === 0 || sentBytes !== outgoing.sentBytes;
  outgoing.sentBytes = sentBytes;
  if (isRead) {
    outgoing.remainingMs = limits.responseTimeoutMs;
    return false;
  }
  outgoing.remainingMs -= limits.checkIntervalMs * (isContended ? CONTENDED_RESPONSE_FACTOR : 1);
  return outgoing.remainingMs < 0;
}
