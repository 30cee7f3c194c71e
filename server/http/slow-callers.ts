/**
 * Callers who hold a connection and hardly use it. A body has to come at a pace, after a time in which it need not: every
 * byte buys a millisecond, up to that time, so that 500 MB over a slow line come in and a byte a minute does not. An answer
 * that nobody reads is given up in the end.
 *
 * Counted in looks, not by the clock: a server that was busy or a clock that was put on takes nobody's time away.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';

export interface Patience {
  /** How often connections are looked at. */
  everyMs: number;
  /** For how long a body may stand still, from its beginning and later. */
  bodyMs: number;
  /** For how long nothing of an answer may be taken. One write of it may be a whole answer of some megabytes. */
  answerMs: number;
}

const PATIENCE: Patience = { everyMs: 5_000, bodyMs: 30_000, answerMs: 600_000 };
const BYTES_PER_MS = 1;
const TOO_SLOW = `The body of the request came too slowly: after ${PATIENCE.bodyMs / 1000} s it has to come at ${BYTES_PER_MS * 1000} bytes a second.`;

interface Connection {
  /** The last request on it that has a body, while that comes. */
  body: { request: IncomingMessage; response: ServerResponse; read: number; leftMs: number } | null;
  answer: { taken: number; leftMs: number };
}

/** Closes slow connections of the server until it closes. `refusal` is what a caller reads whose body came too slowly. */
export function dropSlowCallers(
  server: Server,
  parts: { clock: Clock; patience?: Patience | undefined; refusal(sentence: string): string },
): void {
  const { clock, refusal, patience = PATIENCE } = parts;
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
    for (const [socket, connection] of connections) {
      if (isBodyLate(socket, connection)) drop(socket, connection);
      else if (isAnswerLate(socket, connection.answer)) socket.destroy();
    }
    lookLater();
  };
  const isBodyLate = ({ bytesRead }: Socket, connection: Connection): boolean => {
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
    const earned = request.readableLength > 0 ? patience.bodyMs : came / BYTES_PER_MS;
    body.leftMs = Math.min(patience.bodyMs, body.leftMs + earned) - patience.everyMs;
    return body.leftMs < 0;
  };
  const isAnswerLate = (socket: Socket, answer: Connection['answer']): boolean => {
    const taken = socket.bytesWritten - socket.writableLength;
    if (socket.writableLength === 0 || taken !== answer.taken) answer.leftMs = patience.answerMs;
    answer.taken = taken;
    answer.leftMs -= patience.everyMs;
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
