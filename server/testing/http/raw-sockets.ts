/** Bytes on a connection, for what no HTTP client would send. */
import { connect, type Socket } from 'node:net';

export interface RawResponse {
  /** 0 when the server closed without a word. */
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

/** Sends the bytes and answers what came until the server closed. The caller closes only when told to. */
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

/** Everything that comes until the connection is closed, however it is. */
export async function readResponse(socket: Socket): Promise<RawResponse> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A reset is a way to close.
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const text = Buffer.concat(chunks).toString('latin1');
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text };
}
