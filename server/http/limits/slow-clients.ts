/**
 * Callers who hold a connection and hardly use it. A body has to come at a pace, after a time in which it need not: every
 * byte buys a millisecond, up to that time, so that 500 MB over a slow line come in and a byte a minute does not. A response
 * that nobody reads is given up in the end: it goes out in chunks of 64 KiB, of which one has to be read in two minutes.
 *
 * While other requests wait for the memory that these hold, patience is shorter: a third of the time and 96 kB a second for
 * a body, an eighth of the time for a response.
 *
 * Counts checks, not wall time: a busy server or a clock that is set forward takes nobody's time away.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../clock.ts';

export interface SlowClientLimits {
  /** How often connections are looked at. */
  checkIntervalMs: number;
  /** For how long a body may stand still, from its beginning and later. */
  bodyTimeoutMs: number;
  /** For how long nothing of a response may be read. */
  responseTimeoutMs: number;
}

const DEFAULT_LIMITS: SlowClientLimits = {
  checkIntervalMs: 5_000,
  bodyTimeoutMs: 30_000,
  responseTimeoutMs: 120_000,
};
const BYTES_PER_MS = 1;
/** While memory is short: what a byte of a body buys, and how much faster time runs out. */
const CONTENDED_BYTES_PER_MS = 32;
const CONTENDED_BODY_FACTOR = 3;
const CONTENDED_RESPONSE_FACTOR = 8;
const SLOW_BODY_MESSAGE = `The body of the request came too slowly: after ${DEFAULT_LIMITS.bodyTimeoutMs / 1000} s it has to come at ${BYTES_PER_MS * 1000} bytes a second.`;

interface Connection {
  /** The last request on it that has a body, while that comes. */
  body: { request: IncomingMessage; response: ServerResponse; read: number; leftMs: number } | null;
  answer: { taken: number; leftMs: number };
}

/** Closes slow connections of the server until it closes. `refusal` is what a caller reads whose body came too slowly. */
export function closeSlowClients(
  server: Server,
  parts: {
    clock: Clock;
    patience?: SlowClientLimits | undefined;
    /** Whether requests wait for memory that others hold. */
    isShort(): boolean;
    refusal(sentence: string): string;
  },
): void {
  const { clock, refusal, isShort, patience = DEFAULT_LIMITS } = parts;
  const connections = new Map<Socket, Connection>();
  let stopLooking = (): void => {};

  server.on('connection', (socket: Socket) => {
    connections.set(socket, { body: null, answer: { taken: 0, leftMs: patience.responseTimeoutMs } });
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', (request, response) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    const connection = connections.get(request.socket);
    if (!connection || (encoding === undefined && !(Number(length) > 0))) return;
    const { bytesRead } = request.socket;
    connection.body = { request, response, read: bytesRead, leftMs: patience.bodyTimeoutMs };
  });

  const look = (): void => {
    const short = isShort();
    for (const [socket, connection] of connections) {
      if (isBodyLate(socket, connection, short)) drop(socket, connection);
      else if (isAnswerLate(socket, connection.answer, short)) socket.destroy();
    }
    lookLater();
  };
  const isBodyLate = ({ bytesRead }: Socket, connection: Connection, short: boolean): boolean => {
    const { body } = connection;
    if (body === null) return false;
    const { request } = body;
    if (request.complete || request.destroyed) {
      connection.body = null;
      return false;
    }
    const came = bytesRead - body.read;
    body.read = bytesRead;
    // What lies here unread is ours to take: then the disk is slow, or the database.
    const bytesPerMs = short ? CONTENDED_BYTES_PER_MS : BYTES_PER_MS;
    const earned = request.readableLength > 0 ? patience.bodyTimeoutMs : came / bytesPerMs;
    const spent = patience.checkIntervalMs * (short ? CONTENDED_BODY_FACTOR : 1);
    body.leftMs = Math.min(patience.bodyTimeoutMs, body.leftMs + earned) - spent;
    return body.leftMs < 0;
  };
  const isAnswerLate = (socket: Socket, answer: Connection['answer'], short: boolean): boolean => {
    const taken = socket.bytesWritten - socket.writableLength;
    const isRead = socket.writableLength === 0 || taken !== answer.taken;
    answer.taken = taken;
    if (isRead) {
      answer.leftMs = patience.responseTimeoutMs;
      return false;
    }
    answer.leftMs -= patience.checkIntervalMs * (short ? CONTENDED_RESPONSE_FACTOR : 1);
    return answer.leftMs < 0;
  };
  const drop = (socket: Socket, { body }: Connection): void => {
    if (body?.response.headersSent === false) socket.write(refusal(SLOW_BODY_MESSAGE));
    socket.destroySoon();
  };
  const lookLater = (): void => {
    stopLooking = clock.after(patience.checkIntervalMs, look);
  };

  server.once('listening', lookLater);
  server.once('close', () => stopLooking());
}
