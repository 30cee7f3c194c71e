/**
 * While new callers come, requests are answered one in each turn of the event loop, in the order in which they came. Node
 * accepts a single connection in a turn. When every turn answered all who are waiting, a new caller of a busy server waited
 * as many of these long turns as there are new callers before it: of 500 that came at once, 79 had an answer after five
 * seconds. When nobody is new, a turn answers all: creating runs commits what comes together, and at 100 connections one in
 * each turn made half as many in a second.
 *
 * Requests on one connection are handled one after the other, as their responses have to be sent: so a connection holds the
 * memory and the files of one request, however many it pipelines. It is not read while more than 16 of its requests wait.
 *
 * It holds the requests that wait for their turn. Their bodies are not read meanwhile.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** For so many turns after a new caller the next one is looked for. */
const SINGLE_TURNS_PER_NEW_CLIENT = 8;
const PIPELINED_MAX = 16;
/** Of all connections; one read of 64 KiB can bring a thousand short requests before the connection is paused. */
const PIPELINED_TOTAL_MAX = 10_000;

type Exchange = [IncomingMessage, ServerResponse];

/** The listener for a server. Whoever has gone when it is their turn is not answered, and nothing is done for them. */
export function fairly(answer: RequestListener): RequestListener {
  const waiting: Exchange[] = [];
  const known = new WeakSet<Socket>();
  /** The requests behind the one that is handled, by connection. */
  const pipelined = new WeakMap<Socket, Exchange[]>();
  let pipelinedTotal = 0;
  let singleTurnsLeft = 0;
  const next = (): void => {
    const now = waiting.splice(0, singleTurnsLeft > 0 ? 1 : waiting.length);
    singleTurnsLeft -= 1;
    if (waiting.length > 0) setImmediate(next);
    for (const [request, response] of now) if (!request.destroyed) answer(request, response);
  };
  const enter = (exchange: Exchange, socket: Socket): void => {
    exchange[1].once('close', () => leave(socket));
    if (waiting.push(exchange) === 1) setImmediate(next);
  };
  const leave = (socket: Socket): void => {
    const behind = pipelined.get(socket);
    const following = behind?.shift();
    if (!behind || !following) {
      pipelined.delete(socket);
      return;
    }
    pipelinedTotal -= 1;
    if (socket.destroyed) {
      pipelinedTotal -= behind.length;
      pipelined.delete(socket);
      return;
    }
    if (behind.length <= PIPELINED_MAX) socket.resume();
    enter(following, socket);
  };
  return (request, response) => {
    const { socket } = request;
    const behind = pipelined.get(socket);
    if (behind) {
      behind.push([request, response]);
      pipelinedTotal += 1;
      if (behind.length > PIPELINED_MAX) socket.pause();
      if (pipelinedTotal > PIPELINED_TOTAL_MAX) socket.destroy();
      return;
    }
    // A connection is new with its first request.
    if (!known.has(socket)) {
      known.add(socket);
      singleTurnsLeft = SINGLE_TURNS_PER_NEW_CLIENT;
    }
    pipelined.set(socket, []);
    enter([request, response], socket);
  };
}
