/** Requests of HTTP/2 pass through the same code as those of HTTP/1.1; this is how that code recognises them. */
import { Http2ServerRequest, type ServerHttp2Stream } from 'node:http2';

/** Returns the HTTP/2 stream of a request; null for a request of HTTP/1.1. */
export function getHttp2Stream(request: unknown): ServerHttp2Stream | null {
  return request instanceof Http2ServerRequest ? request.stream : null;
}
