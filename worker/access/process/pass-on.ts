/** Passes a request of the app of a run on to the server with a proof, and the response back. */
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ErrorCode } from '@switchyard/contract/errors.ts';
import type { TraceVariables } from '@switchyard/contract/workers/job-schemas.ts';
import { waitForResponse } from '../../wait-for-response.ts';
import type { ApiTarget } from '../protocol.ts';
import { REPEATABLE_BODY_BYTES_MAX, REPEATABLE_BYTES_TOTAL_MAX } from './bounds.ts';
import { JoinedParts } from './joined-parts.ts';
import { SequentialConnection } from './sequential-connection.ts';

/** The time that an app has for a repeatable body, and for a pause in a larger one. */
const BODY_TIMEOUT_MS = 30_000;
/** The published client waits 20 s for a response. */
export const RATE_WAIT_MS_MAX = 15_000;
const RATE_WAIT_MS_MIN = 250;

/** The connections of one run to the server. */
export class ServerConnections {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;

  constructor(maxSockets: number) {
    this.http = new HttpAgent({ keepAlive: true, maxSockets });
    this.https = new HttpsAgent({ keepAlive: true, maxSockets });
  }

  destroy(): void {
    this.http.destroy();
    this.https.destroy();
  }
}

export interface Destination {
  proof: string;
  proofHeader: string;
  connections: ServerConnections;
  target: ApiTarget | null;
  trace: TraceVariables;
}

/** Bytes of repeatable bodies that this process holds. */
let repeatableBytes = 0;

/** Passes one request on, and the response back. */
export async function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  { proof, proofHeader, connections, target, trace }: Destination,
): Promise<void> {
  const path = request.url ?? '';
  if (!/^\/v1\//.test(path))
    return refuse(response, 404, 'The app of a run reaches the API alone, whose paths begin with /v1/.');
  if (target === null || proof === '')
    return refuse(response, 503, 'The server does not listen yet. Send the request again in a second.');
  const headers = {
    ...addTrace(dropConnectionHeaders(request.headers), trace),
    [proofHeader]: proof,
  };
  const options = { method: request.method ?? 'GET', path, headers };
  let latest: ClientRequest | undefined;
  response.once('close', () => latest?.destroy());
  const send = (): ClientRequest => {
    latest = openRequest(target, connections, options);
    return latest;
  };
  const length = Number(request.headers['content-length'] ?? 0);
  const isRepeatable =
    length <= REPEATABLE_BODY_BYTES_MAX &&
    !request.headers['transfer-encoding'] &&
    repeatableBytes + length <= REPEATABLE_BYTES_TOTAL_MAX;
  openBody(request, response, isRepeatable);
  if (!isRepeatable) {
    const outgoing = send();
    const received = waitForResponse(outgoing);
    // The server may respond before the end of a body that it refuses.
    pipeline(request, new JoinedParts(), outgoing).catch(() => outgoing.destroy());
    return passBack(await received, response);
  }
  repeatableBytes += length;
  try {
    await passOnRepeatedly(await buffer(request), response, send);
  } finally {
    repeatableBytes -= length;
  }
}

/** Sends the request again while the server refuses it for its rate, because the published client does not. */
async function passOnRepeatedly(
  body: Buffer,
  response: ServerResponse,
  send: () => ClientRequest,
): Promise<void> {
  const until = performance.now() + RATE_WAIT_MS_MAX;
  for (;;) {
    const outgoing = send();
    outgoing.end(body);
    const incoming = await waitForResponse(outgoing);
    const waitMs = Math.max(RATE_WAIT_MS_MIN, Number(incoming.headers['retry-after'] ?? Infinity) * 1000);
    if (incoming.statusCode !== 429 || performance.now() + waitMs > until)
      return passBack(incoming, response);
    incoming.resume();
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    // The app does not wait any more, and may have sent the request again itself.
    if (response.destroyed) return;
  }
}

function openBody(request: IncomingMessage, response: ServerResponse, isRepeatable: boolean): void {
  const connection: unknown = request.socket;
  if (!(connection instanceof SequentialConnection)) return;
  connection.openBody({
    milliseconds: BODY_TIMEOUT_MS,
    isForPauses: !isRepeatable,
    onExpiry() {
      const seconds = BODY_TIMEOUT_MS / 1000;
      const limit = isRepeatable ? `did not arrive within ${seconds} s` : `stood still for ${seconds} s`;
      if (response.headersSent) request.destroy();
      else refuse(response, 408, `The body of the request ${limit}. Send the request again.`);
    },
  });
}

interface PassedRequest {
  method: string;
  path: string;
  headers: OutgoingHttpHeaders;
}

function openRequest({ url, isOwn }: ApiTarget, connections: ServerConnections, options: PassedRequest) {
  const { protocol, hostname, port, host, pathname } = new URL(url);
  const all = {
    ...options,
    ...{ hostname: hostname.replace(/^\[|\]$/g, ''), port },
    path: `${pathname.replace(/\/$/, '')}${options.path}`,
    headers: { ...options.headers, host },
  };
  return protocol === 'https:'
    ? httpsRequest({ ...all, agent: connections.https, rejectUnauthorized: !isOwn })
    : httpRequest({ ...all, agent: connections.http });
}

async function passBack(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(incoming.statusCode ?? 502, dropConnectionHeaders(incoming.headers));
  await pipeline(incoming, response);
}

/** Headers of one connection, which a proxy does not pass on (RFC 9110, section 7.6.1). */
const CONNECTION_HEADERS = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade', 'host', 'expect'],
]);

function dropConnectionHeaders(headers: IncomingMessage['headers']): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.has(name)));
}

/** A request of an app that knows nothing of traces belongs to the span of its run all the same. */
function addTrace(
  headers: OutgoingHttpHeaders,
  { TRACEPARENT, TRACESTATE }: TraceVariables,
): OutgoingHttpHeaders {
  if (headers.traceparent !== undefined || TRACEPARENT === undefined) return headers;
  return { ...headers, traceparent: TRACEPARENT, ...(TRACESTATE ? { tracestate: TRACESTATE } : {}) };
}

const ERRORS = {
  404: { status: 'Not Found', code: 'not_found' },
  408: { status: 'Request Timeout', code: 'timeout' },
  429: { status: 'Too Many Requests', code: 'too_many_requests' },
  503: { status: 'Service Unavailable', code: 'unavailable' },
} as const satisfies Record<number, { status: string; code: ErrorCode }>;

/** Responds in the form of the server. The connection closes when a body is left that the app may still send. */
export function refuse(response: ServerResponse, status: keyof typeof ERRORS, error: string): void {
  if (!response.req.complete) response.shouldKeepAlive = false;
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    ...(status === 429 ? { 'retry-after': '1' } : {}),
  });
  response.end(JSON.stringify({ ...ERRORS[status], error }));
}
