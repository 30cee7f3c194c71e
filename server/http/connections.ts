/** What stands before the operations: the server of Node with its limits, and what of HTTP is not taken. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { inTurn } from './in-turn.ts';
import { badRequest, problemBody } from './problem.ts';
import { dropSlowCallers, type Patience } from './slow-callers.ts';

const HEADER_BYTES_MAX = 32 * 1024;
const HEADERS_MS = 30_000;
const KEEP_ALIVE_MS = 72_000;

export interface ConnectionLimits {
  clock: Clock;
  /** How long a caller may take to send its headers. */
  headersMs?: number;
  patience?: Patience;
}

/** A server that waits for no caller without end. */
export function makeServer(
  answer: RequestListener,
  { clock, headersMs = HEADERS_MS, patience }: ConnectionLimits,
): Server {
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: headersMs,
      // Node looks for slow callers this often.
      connectionsCheckingInterval: headersMs / 6,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Bodies have a pace in place of an end.
      requestTimeout: 0,
    },
    inTurn(answer),
  );
  // An expectation that is not known may be left aside; Node would answer 417, which no operation declares.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  dropSlowCallers(server, { clock, patience, refusal: rawRefusal });
  return server;
}

/** Answers what is no HTTP, where an answer can still be read, and closes. */
export function refuseConnection(error: { code: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  socket.end(rawRefusal(`The request is not HTTP that can be read: ${error.code}.`));
}

/** A whole 400, for where there is no reply to write it to. */
function rawRefusal(sentence: string): string {
  const body = JSON.stringify(problemBody(400, sentence));
  return `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}

/** Of these, a proxy before us may look at another one than we do. */
const ONCE = new Set(['host', 'authorization', 'idempotency-key']);

/** Throws the 400 for what can be understood in two ways. Node itself refuses what it knows to be so. */
export function refuseAmbiguous({ raw }: FastifyRequest): void {
  const { rawHeaders } = raw;
  const seen: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (!ONCE.has(name)) continue;
    if (seen.includes(name)) throw badRequest(`The header ${name} is given more than once; give it once.`);
    seen.push(name);
  }
  const encoding = raw.headers['transfer-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'chunked')
    throw badRequest(`The Transfer-Encoding is ${JSON.stringify(encoding)}; it must be chunked.`);
}
