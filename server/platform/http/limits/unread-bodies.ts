/**
 * Discards the rest of a body for a second after the response to its request, and then closes the connection.
 *
 * Many clients read the response only after they have sent the whole body. When the rest of a refused upload was not read,
 * such a client waited 73 s for the end of its connection. When the server closes at once, the unread bytes reset the
 * connection, and the client may lose the response.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Http2ServerRequest } from 'node:http2';
import type { Clock } from '../../clock.ts';

const DRAIN_MS = 1200;

/** Drains bodies of HTTP/1.1. http2-server.ts closes a stream with its response. */
export function drainUnreadBodies(server: Server, clock: Clock): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request instanceof Http2ServerRequest) return;
    // Before the listener of Node, which closes the connection of a last response.
    response.prependOnceListener('finish', () => {
      if (!request.complete && !request.socket.destroyed) drainAndClose(request, clock);
    });
  });
}

/** A body that ends in time leaves the connection open for the next request. */
function drainAndClose(request: IncomingMessage, clock: Clock): void {
  const { socket } = request;
  const destroySoon = socket.destroySoon.bind(socket);
  // The caller reads the end of the connection behind the response, and request-feed.ts discards what still arrives.
  socket.destroySoon = () => {
    socket.end();
  };
  const cancel = clock.after(DRAIN_MS, destroySoon);
  request.once('end', () => {
    cancel();
    socket.destroySoon = destroySoon;
  });
  socket.once('close', cancel);
  request.resume();
}
