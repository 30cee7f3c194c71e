/**
 * Access of the app of one run to the API. A small HTTP server receives the requests of the app and passes them on to the
 * server, each with a proof that it comes from this run. It passes on nothing but the API.
 *
 * In a sandbox without network it listens on a Unix socket, to which the runner connects a port on the loopback of the
 * sandbox. Elsewhere the app uses the network of the host, so it listens on a port of the host's loopback. That port is open
 * to every program of the host, and useless to one that does not know the token of the run.
 *
 * The published client repeats no request over plain HTTP, so the proxy waits and repeats a request that the server refuses
 * for its rate.
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open } from 'node:fs/promises';
import {
  createServer,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { RUN_PROOF_HEADER } from '@switchyard/contract/run-proof-header.ts';
import type { TraceVariables } from '@switchyard/contract/workers/job-schemas.ts';
import type { RunSpec } from '@switchyard/runner';
import { waitForResponse } from '../wait-for-response.ts';

/** The port on the loopback of a sandbox. */
const SANDBOX_PORT = 4747;
/** A larger body is passed on as it arrives, and so cannot be sent again. */
const REPEATABLE_BODY_BYTES_MAX = 256 * 1024;
/** The published client waits 20 s for a response. */
const RATE_WAIT_MS_MAX = 15_000;
const RATE_WAIT_MS_MIN = 250;
/**
 * Connections of an app. Each has a descriptor of this process, which all runs share. More requests at once than
 * SERVER_CONNECTIONS_MAX wait for each other, so that one app cannot use up the connections of the server.
 */
const CONNECTIONS_MAX = 512;
const SERVER_CONNECTIONS_MAX = 64;

/** The server as the proxy reaches it. */
export interface ApiTarget {
  /** Without a trailing slash. */
  url: string;
  /** true: the address on which this process listens, whose certificate is for another name. */
  isOwn: boolean;
}

interface AccessSettings {
  /** The run token of the attempt. */
  token: string;
  /** True for an app in a sandbox without network. */
  isIsolated: boolean;
  /** Returns the proof that requests at the endpoint come from the app of the attempt. */
  prove(endpoint: string): Promise<string>;
  /** Returns the server; null while it does not listen yet. */
  findApi(): ApiTarget | null;
  /** The folder of the sockets, an absolute path. */
  socketsFolder: string;
  /** The variables of the app's span; empty without one. */
  trace: TraceVariables;
}

/** Open access of one run. */
export interface ApiAccess {
  /** The variables that the published client reads. */
  environment: Record<string, string>;
  token: string;
  /** The port and socket for a sandbox without network. */
  forward?: NonNullable<RunSpec['forward']>;
  /** Ends every request under way. */
  close(): Promise<void>;
}

/** Opens the access of the app of a run. */
export async function openApiAccess(settings: AccessSettings): Promise<ApiAccess> {
  const { token, isIsolated, prove, findApi, socketsFolder, trace } = settings;
  let proof = '';
  const agents = {
    http: new HttpAgent({ keepAlive: true, maxSockets: SERVER_CONNECTIONS_MAX }),
    https: new HttpsAgent({ keepAlive: true, maxSockets: SERVER_CONNECTIONS_MAX }),
  };
  const server = createServer((request, response) => {
    passOn(request, response, { proof, agents, target: findApi(), trace }).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else refuse(response, 503, `The server cannot be reached: ${String(error)}. Send the request again.`);
    });
  });
  server.maxConnections = CONNECTIONS_MAX;
  const place = isIsolated ? await listenOnSocket(server, socketsFolder) : await listenOnPort(server);
  const endpoint = `http://127.0.0.1:${place.port}`;
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    agents.http.destroy();
    agents.https.destroy();
    await closed;
    await place.release();
  };
  try {
    proof = await prove(endpoint);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    environment: { NEXTMV_API_KEY: token, NEXTMV_ENDPOINT: endpoint },
    token,
    ...(place.forward ? { forward: place.forward } : {}),
    close,
  };
}

interface ListeningPlace {
  port: number;
  forward?: NonNullable<RunSpec['forward']>;
  release(): Promise<void>;
}

/** The path of a socket has at most 107 bytes, so the socket is named by the descriptor of its folder. */
async function listenOnSocket(server: Server, folder: string): Promise<ListeningPlace> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = randomUUID();
  const socketPath = join(folder, name);
  const handle = await open(folder, 'r');
  try {
    await listen(server, { path: `/proc/self/fd/${handle.fd}/${name}` });
    // The app runs as another user and has to connect. The mode of the folder keeps all other users out.
    await chmod(socketPath, 0o666);
  } catch (error) {
    await handle.close();
    throw error;
  }
  const forward = { port: SANDBOX_PORT, socketPath };
  return { port: SANDBOX_PORT, forward, release: () => handle.close() };
}

async function listenOnPort(server: Server): Promise<ListeningPlace> {
  await listen(server, { host: '127.0.0.1', port: 0 });
  const { port }: Partial<AddressInfo> = Object(server.address());
  return { port: port ?? 0, release: async () => {} };
}

async function listen(
  server: Server,
  place: { path: string } | { host: string; port: number },
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(place, () => resolve());
  });
}

/** The connections of one app to the server, apart from those of other apps. */
interface Agents {
  http: HttpAgent;
  https: HttpsAgent;
}

interface Destination {
  proof: string;
  agents: Agents;
  target: ApiTarget | null;
  trace: TraceVariables;
}

/** Passes one request on, and the response back. */
async function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  { proof, agents, target, trace }: Destination,
): Promise<void> {
  const path = request.url ?? '';
  if (!/^\/v1\//.test(path))
    return refuse(response, 404, 'The app of a run reaches the API alone, whose paths begin with /v1/.');
  if (target === null)
    return refuse(response, 503, 'The server does not listen yet. Send the request again in a second.');
  const headers = {
    ...addTrace(dropConnectionHeaders(request.headers), trace),
    [RUN_PROOF_HEADER]: proof,
  };
  const length = Number(request.headers['content-length'] ?? 0);
  const isRepeatable = length <= REPEATABLE_BODY_BYTES_MAX && !request.headers['transfer-encoding'];
  const options = { method: request.method ?? 'GET', path, headers };
  if (!isRepeatable) {
    const outgoing = openRequest(target, agents, options);
    const received = waitForResponse(outgoing);
    // The server may respond before the end of a body that it refuses.
    pipeline(request, outgoing).catch(() => outgoing.destroy());
    return passBack(await received, response);
  }
  const body = await buffer(request);
  const until = performance.now() + RATE_WAIT_MS_MAX;
  for (;;) {
    const outgoing = openRequest(target, agents, options);
    response.once('close', () => outgoing.destroy());
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

interface PassedRequest {
  method: string;
  path: string;
  headers: OutgoingHttpHeaders;
}

function openRequest({ url, isOwn }: ApiTarget, agents: Agents, options: PassedRequest) {
  const { protocol, hostname, port, host, pathname } = new URL(url);
  const all = {
    ...options,
    ...{ hostname: hostname.replace(/^\[|\]$/g, ''), port },
    path: `${pathname.replace(/\/$/, '')}${options.path}`,
    headers: { ...options.headers, host },
  };
  return protocol === 'https:'
    ? httpsRequest({ ...all, agent: agents.https, rejectUnauthorized: !isOwn })
    : httpRequest({ ...all, agent: agents.http });
}

async function passBack(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(incoming.statusCode ?? 502, dropConnectionHeaders(incoming.headers));
  await pipeline(incoming, response);
}

/** Headers of one connection, which a proxy does not pass on (RFC 9110, section 7.6.1), and the proofs of others. */
const CONNECTION_HEADERS = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade', 'host', 'expect'],
  RUN_PROOF_HEADER,
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

function refuse(response: ServerResponse, status: number, message: string): void {
  const statusText = status === 404 ? 'Not Found' : 'Service Unavailable';
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify({ status: statusText, error: message }));
}
