/**
 * HTTP/2 beside the HTTP/1.1 server: each request of a stream becomes a `request` event of that server, so that one path
 * with one set of limits handles both. The differences that handlers would see are removed here.
 *
 * Resets and frames in excess are the platform's to limit: nghttp2 closes a session after a burst of 1000 resets.
 */
import type { Server } from 'node:http';
import {
  constants,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
  type ServerHttp2Session,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { bodyEndedEarly } from '../errors/framework-errors.ts';
import type { Connections } from '../limits/connections.ts';

/** RFC 9113 recommends at least 100; a browser with many pages of the console open needs a few dozen. */
const STREAMS_PER_SESSION_MAX = 100;
/** Of the maximum of connections; the streams that all sessions together may have without the minimum of each. */
const ALLOTTED_SHARE = 1 / 16;
/** A session gets this part of the streams that no other session has. */
const FREE_STREAMS_SHARE = 2 / 5;
/** The minimum of a session: its part of a share of the maximum of connections, within bounds. */
const MINIMUM = { share: 1 / 16, least: 1, most: 8 };
/** The event streams of the console stay open while it requests more. */
const TRUSTED_MINIMUM = { share: 1 / 2, least: 8, most: 32 };
/** Streams of one session that the server refuses before it closes the session. */
const REFUSED_STREAMS_MAX = 100;
/** The time in which a client has to close its side after the server has closed the session. */
const CLOSE_TIMEOUT_MS = 5_000;

interface Http2Options {
  connections: Connections;
  headerBytesMax: number;
  /** A session without streams and frames ends after this time. */
  idleTimeoutMs: number;
}

/** Sessions of HTTP/2 in front of a server of HTTP/1.1. */
export interface Http2Front {
  /** Serves HTTP/2 on the connection. */
  serve(socket: TLSSocket): void;
  /** Closes each session once its streams have ended; refuses new streams. */
  closeWhenIdle(): void;
}

/**
 * Returns the streams that a session may have open at once, when the other sessions may have `allotted` of them. The first
 * session gets 100, and those that open while many are open get fewer. Otherwise a few hundred sessions could send 100 requests
 * each at one moment, which take more than a second to parse. A request takes 0.2 ms, and 256 of them about 50 ms.
 */
export function allotStreams(
  { sessions, allotted, connectionsMax }: { sessions: number; allotted: number; connectionsMax: number },
  isTrusted: boolean,
): number {
  const free = Math.floor((connectionsMax * ALLOTTED_SHARE - allotted) * FREE_STREAMS_SHARE);
  const { share, least, most } = isTrusted ? TRUSTED_MINIMUM : MINIMUM;
  const minimum = Math.min(most, Math.max(least, Math.floor((connectionsMax * share) / sessions)));
  return Math.max(minimum, Math.min(STREAMS_PER_SESSION_MAX, free));
}

/** Creates the HTTP/2 server that passes its requests to `server`. */
export function createHttp2Front(server: Server, options: Http2Options): Http2Front {
  const { connections } = options;
  const sessions = new Map<TLSSocket, ServerHttp2Session>();
  let allottedStreams = 0;
  const http2 = createServer({
    settings: {
      maxHeaderListSize: options.headerBytesMax,
      enablePush: false,
    },
  });
  http2.on('session', (session) => {
    // An error of the protocol closes the session; the peer gets the reason in its GOAWAY frame.
    session.on('error', () => session.destroy());
    session.setTimeout(options.idleTimeoutMs, () => session.close());
  });
  passRequests(http2, server, connections);
  return {
    serve(socket) {
      // Otherwise a connection that the client has closed would stay open on this side.
      socket.allowHalfOpen = false;
      let allotted = 0;
      const allot = (isTrusted: boolean): number => {
        const others = allottedStreams - allotted;
        const load = { sessions: sessions.size + 1, allotted: others, connectionsMax: connections.max };
        allotted = Math.max(allotted, allotStreams(load, isTrusted));
        allottedStreams = others + allotted;
        return allotted;
      };
      http2.updateSettings({ maxConcurrentStreams: allot(false) });
      connections.onTrust(socket, () => {
        const session = sessions.get(socket);
        if (session && !session.closed) session.settings({ maxConcurrentStreams: allot(true) });
      });
      http2.once('session', (session: ServerHttp2Session) => {
        sessions.set(socket, session);
        session.once('close', () => {
          sessions.delete(socket);
          destroyAfterTimeout(socket);
        });
      });
      socket.once('close', () => {
        allottedStreams -= allotted;
        allotted = 0;
      });
      http2.emit('connection', socket);
    },
    closeWhenIdle() {
      for (const session of sessions.values()) if (!session.closed) session.close();
    },
  };
}

function passRequests(http2: Http2Server, server: Server, connections: Connections): void {
  const refusedStreams = new WeakMap<Http2Session, number>();
  const pass = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
    const { stream } = request;
    if (!connections.openStream(request.socket, stream)) {
      // The client may send the request again, because no part of it was handled (RFC 9113, section 8.7).
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      const { session } = stream;
      if (!session) return;
      const refused = (refusedStreams.get(session) ?? 0) + 1;
      refusedStreams.set(session, refused);
      if (refused > REFUSED_STREAMS_MAX) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
      return;
    }
    adaptRequest(request);
    adaptResponse(request, response);
    server.emit('request', request, response);
  };
  http2.on('request', pass);
  http2.on('checkExpectation', pass);
}

/** Gives the headers the shape of HTTP/1.1: the host, and a body of unknown length. */
function adaptRequest(request: Http2ServerRequest): void {
  const { headers, stream } = request;
  headers.host ??= request.authority;
  // As for a chunked body of HTTP/1.1, the server reserves the maximum of memory. HTTP/2 forbids the header itself.
  if (!stream.endAfterHeaders && headers['content-length'] === undefined)
    headers['transfer-encoding'] = 'chunked';
  // A request that is destroyed while nothing reads its body emits the error to nobody.
  request.on('error', () => {});
  // The platform ends the body of a canceled request as if it were complete. A reader would take the beginning for the whole.
  stream.once('aborted', () => {
    if (!request.readableEnded) request.destroy(bodyEndedEarly());
  });
}

/** Adds the state that responses of HTTP/1.1 have, and ends the stream of a request whose body nobody reads. */
function adaptResponse(request: Http2ServerRequest, response: Http2ServerResponse): void {
  const { stream } = request;
  Object.defineProperties(response, {
    destroyed: { get: () => stream.destroyed },
    closed: { get: () => stream.closed },
  });
  stream.once('finish', () => {
    // The response is complete, so the client can stop sending (RFC 9113, section 8.1).
    if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
  });
}

function destroyAfterTimeout(socket: Socket): void {
  if (!socket.destroyed) socket.setTimeout(CLOSE_TIMEOUT_MS, () => socket.destroy());
}
