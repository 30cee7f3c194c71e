/** Clients of servers with TLS: what they trust, and requests over HTTP/2. */
import { readFileSync } from 'node:fs';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { TestServer } from '../servers/test-server.ts';

/** Makes `fetch` and all other clients of this process trust the certificate, as NODE_EXTRA_CA_CERTS does for a new process. */
export function trustAuthority(path: string): void {
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(path, 'utf8')]);
}

/** A response of HTTP/2. `resetCode` is the code of a reset of its stream, and 0 without one. */
export interface Http2Response {
  status: number;
  headers: Record<string, unknown>;
  text: string;
  resetCode: number;
}

/** Opens a session of HTTP/2; its certificate is verified. */
export async function openHttp2Session(url: string): Promise<ClientHttp2Session> {
  const session = connect(url);
  await new Promise<void>((resolve, reject) => {
    session.once('connect', () => resolve());
    session.once('error', reject);
  });
  session.on('error', () => {});
  return session;
}

/** Opens a stream with the token of the server; its body stays open when the headers have a POST or PUT method. */
export function openHttp2Stream(
  session: ClientHttp2Session,
  server: Pick<TestServer, 'token'>,
  headers: OutgoingHttpHeaders,
): ClientHttp2Stream {
  const stream = session.request({ authorization: `Bearer ${server.token}`, ...headers });
  stream.on('error', () => {});
  return stream;
}

/** Reads the response of a stream to its end; resolves also for a stream that the server resets. */
export async function readHttp2Response(stream: ClientHttp2Stream): Promise<Http2Response> {
  let headers: Record<string, unknown> = {};
  const chunks: Buffer[] = [];
  stream.on('response', (received) => {
    headers = { ...received };
  });
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise<void>((resolve) => stream.once('close', () => resolve()));
  const text = Buffer.concat(chunks).toString();
  return { status: Number(headers[':status'] ?? 0), headers, text, resetCode: stream.rstCode ?? 0 };
}

/** Sends a request with a body in one piece, and reads its response. */
export function requestHttp2(
  session: ClientHttp2Session,
  server: Pick<TestServer, 'token'>,
  headers: OutgoingHttpHeaders,
  body?: string | Buffer,
): Promise<Http2Response> {
  const stream = openHttp2Stream(session, server, headers);
  const response = readHttp2Response(stream);
  if (body !== undefined) stream.end(body);
  return response;
}
