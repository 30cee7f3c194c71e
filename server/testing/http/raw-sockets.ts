/** Sends bytes that no HTTP client sends. */
import { connect, type Socket } from 'node:net';

export interface RawResponse {
  /** 0 when the server closed the connection without a response. */
  status: number;
  text: string;
}

/** Opens a connection to the server. */
export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve());
    socket.once('error', reject);
  });
  return socket;
}

/** Sends the bytes and returns the response until the server closes. With `end` this side closes its half first. */
export async function sendRaw(
  server: { url: string },
  bytes: string | Buffer,
  then: 'wait' | 'end' = 'wait',
): Promise<RawResponse> {
  const socket = await openSocket(server.url);
  const closed = readResponse(socket);
  if (then === 'end') socket.end(bytes);
  else socket.write(bytes);
  return closed;
}

/** Reads until the connection is closed or reset. */
export async function readResponse(socket: Socket): Promise<RawResponse> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A reset closes the connection too.
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const text = Buffer.concat(chunks).toString('latin1');
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text };
}
