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
import type { Clock } from '../clock.ts';

export interface Patience {
  /** How often connections are looked at. */
  everyMs: number;
  /** For how long a body may stand still, from its beginning and later. */
  bodyMs: number;
  /** For how long nothing of a response may be read. */
  answerMs: number;
}

const PATIENCE: Patience = { everyMs: 5_000, bodyMs: 30_000, answerMs: 120_000 };
const BYTES_PER_MS = 1;
/** While memory is short: what a byte of a body buys, and how much faster time runs out. */
const SHORT_BYTES_PER_MS = 32;
const SHORT_BODY_FACTOR = 3;
const SHORT_ANSWER_FACTOR = 8;
const TOO_SLOW = `The body of the request came too slowly: after ${PATIENCE.bodyMs / 1000} s it has to come at ${BYTES_PER_MS * 1000} bytes a second.`;

interface Connection {
  /** The last request on it that has a body, while that comes. */
  body: { request: IncomingMessage; response: ServerResponse; read: number; leftMs: number } | null;
  answer: { taken: number; leftMs: number };
}

/** Closes slow connections of the server until it closes. `refusal` is what a caller reads whose body came too slowly. */
export function dropSlowCallers(
  server: Server,
  parts: {
    clock: Clock;
    patience?: Patience | undefined;
    /** Whether requests wait for memory that others hold. */
    isShort(): boolean;
    refusal(sentence: string): string;
  },
): void {
  const { clock, refusal, isShort, patience = PATIENCE } = parts;
  const connections = new Map<Socket, Connection>();
  let stopLooking = (): void => {};

  server.on('connection', (socket: Socket) => {
    connections.set(socket, { body: null, answer: { taken: 0, leftMs: patience.answerMs } });
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', (request, response) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    const connection = connections.get(request.socket);
    if (!connection || (encoding === undefined && !(Number(length) > 0))) return;
    const { bytesRead } = request.socket;
    connection.body = { request, response, read: bytesRead, leftMs: patience.bodyMs };
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
    const bytesPerMs = short ? SHORT_BYTES_PER_MS : BYTES_PER_MS;
    const earned = request.readableLength > 0 ? patience.bodyMs : came / bytesPerMs;
    const spent = patience.everyMs * (short ? SHORT_BODY_FACTOR : 1);
    body.leftMs = Math.min(patience.bodyMs, body.leftMs + earned) - spent;
    return body.leftMs < 0;
  };
  const isAnswerLate = (socket: Socket, answer: Connection['answer'], short: boolean): boolean => {
    const taken = socket.bytesWritten - socket.writableLength;
    const isRead = socket.writableLength === 0 || taken !== answer.taken;
    answer.taken = taken;
    if (isRead) {
      answer.leftMs = patience.answerMs;
      return false;
    }
    answer.leftMs -= patience.everyMs * (short ? SHORT_ANSWER_FACTOR : 1);
    return answer.leftMs < 0;
  };
  const drop = (socket: Socket, { body }: Connection): void => {
    if (body?.response.headersSent === false) socket.write(refusal(TOO_SLOW));
    socket.destroySoon();
  };
  const lookLater = (): void => {
    stopLooking = clock.after(patience.everyMs, look);
  };

  server.once('listening', lookLater);
  server.once('close', () => stopLooking());
}
