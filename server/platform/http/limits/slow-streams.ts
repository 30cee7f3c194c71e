/**
 * Closes streams of HTTP/2 whose caller hardly sends or reads, by the rules of slow-clients.ts. A connection has many streams,
 * so its socket says nothing about one of them:
 * - The bytes that a connection receives count for its open bodies in equal parts. So a caller that holds a hundred bodies
 *   has to send a hundred times as much as one with a single body.
 * - A response is read when the chunk that waits becomes smaller, or the stream asks for the next one.
 */
import { constants, type Http2ServerRequest, type ServerHttp2Stream } from 'node:http2';
import { badRequest } from '../errors/problem.ts';
import {
  type CheckContext,
  SLOW_BODY_MESSAGE,
  type SlowClientLimits,
  spendBodyAllowance,
  spendResponseAllowance,
} from './allowances.ts';

interface WatchedStream {
  request: Http2ServerRequest;
  /** null once the body is complete, and for a request without one. */
  bodyMs: number | null;
  responseMs: number;
  /** Bytes that waited to be sent at the last check. */
  waitingBytes: number;
  hasDrained: boolean;
}

/** The open streams of HTTP/2 of a server. */
export class SlowStreams {
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
