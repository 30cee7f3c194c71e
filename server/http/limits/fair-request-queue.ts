/**
 * Gives new callers of a busy server their first response soon. While new callers come, each turn of the event loop
 * handles one request, in the order of arrival. Without new callers, a turn handles all waiting requests.
 *
 * Measured reasons:
 * - Node accepts one connection in a turn. When every turn handled all waiting requests, a new caller waited one such long
 *   turn for each new caller before it. Of 500 simultaneous callers, 79 had a response after five seconds.
 * - Concurrent runs share a commit. At 100 connections, one request in each turn halved the runs created in a second.
 *
 * Requests on one connection are handled one after the other, because their responses have to be sent in order. So a
 * connection holds the memory and the files of one request, however many it pipelines. The server does not read a
 * connection while more than 16 of its requests wait, nor the body of a waiting request. Streams of HTTP/2 have no such
 * order; connections.ts bounds their number.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getHttp2Stream } from './http2-stream.ts';

/** Turns with a single request after the last new caller, in which Node can accept the next one. */
const SINGLE_TURNS_PER_NEW_CLIENT = 8;
const PIPELINED_MAX = 16;
/** Of all connections; one read of 64 KiB can contain a thousand short requests before the connection is paused. */
const PIPELINED_TOTAL_MAX = 10_000;

type Exchange = [IncomingMessage, ServerResponse];

/** Returns a listener that queues requests for `handle`; it drops requests whose caller disconnects while they wait. */
export function fairly(handle: RequestListener): RequestListener {
  const waiting: Exchange[] = [];
  const knownConnections = new WeakSet<object>();
  /** The requests behind the one in progress, by connection. */
  const pipelined = new WeakMap<Socket, Exchange[]>();
  let pipelinedTotal = 0;
  let remainingSingleTurns = 0;
  const handleTurn = (): void => {
    const batch = waiting.splice(0, remainingSingleTurns > 0 ? 1 : waiting.length);
    remainingSingleTurns -= 1;
    if (waiting.length > 0) setImmediate(handleTurn);
    for (const [request, response] of batch)
      if (!request.destroyed && !response.destroyed) handle(request, response);
  };
  const enqueue = (exchange: Exchange, socket: Socket): void => {
    exchange[1].once('close', () => enqueueFollowing(socket));
    if (waiting.push(exchange) === 1) setImmediate(handleTurn);
  };
  const enqueueFollowing = (socket: Socket): void => {
    const following = pipelined.get(socket);
    const next = following?.shift();
    if (!following || !next) {
      pipelined.delete(socket);
      return;
    }
    pipelinedTotal -= 1;
    if (socket.destroyed) {
      pipelinedTotal -= following.length;
      pipelined.delete(socket);
      return;
    }
    if (following.length <= PIPELINED_MAX) socket.resume();
    enqueue(next, socket);
  };
  const noteClient = (connection: object): void => {
    // A connection counts as new at its first request, not when it opens.
    if (knownConnections.has(connection)) return;
    knownConnections.add(connection);
    remainingSingleTurns = SINGLE_TURNS_PER_NEW_CLIENT;
  };
  return (request, response) => {
    const { socket } = request;
    const stream = getHttp2Stream(request);
    if (stream) {
      noteClient(stream.session ?? socket);
      if (waiting.push([request, response]) === 1) setImmediate(handleTurn);
      return;
    }
    const following = pipelined.get(socket);
    if (following) {
      following.push([request, response]);
      pipelinedTotal += 1;
      if (following.length > PIPELINED_MAX) socket.pause();
      if (pipelinedTotal > PIPELINED_TOTAL_MAX) socket.destroy();
      return;
    }
    noteClient(socket);
    pipelined.set(socket, []);
    enqueue([request, response], socket);
  };
}
