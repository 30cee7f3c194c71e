/**
 * Callers that flood a server, in a process of their own; `pipelining.ts` starts it and ends it. Each connection sends requests
 * without waiting for responses, reads whatever comes, and opens again when the server closes it. The bytes of HTTP/2 are
 * prepared, because Node's client needs more processor time than the server.
 */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A flood: its protocol, its connections, and the request that they repeat. */
export interface Flood {
  url: string;
  path: string;
  protocol: 'http1' | 'http2';
  connections: number;
  /**
   * Requests on each connection; null sends without an end. Over HTTP/1.1 all at once, then nothing until the server closes
   * it. Over HTTP/2 the client closes it after so many responses, so that it begins handshakes without an end.
   */
  requests: number | null;
  /** An Authorization header. */
  authorization?: string;
}

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const CONCURRENT_STREAMS_DEFAULT = 100;
const FRAME_HEADER_BYTES = 9;
const SETTING_BYTES = 6;
const MAX_CONCURRENT_STREAMS = 3;
const FRAME = { headers: 1, reset: 3, settings: 4, windowUpdate: 8 } as const;
const FLAGS_END = 0x5;
const END_STREAM = 0x1;
const ACK = 0x1;

function formatFrame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEADER_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Formats a header of HPACK that stays out of the dynamic table; `name` is an index of the static table. */
function formatHeader(name: number, value: string): Buffer {
  const index = name < 15 ? [name] : [15, name - 15];
  const length = value.length < 127 ? [value.length] : [127, value.length - 127];
  return Buffer.concat([Buffer.from([...index, ...length]), Buffer.from(value)]);
}

function formatHeaders({ path, authorization }: Flood): Buffer {
  const fixed = [Buffer.from([0x82, 0x87]), formatHeader(4, path), formatHeader(1, 'localhost')];
  return Buffer.concat([...fixed, ...(authorization ? [formatHeader(23, authorization)] : [])]);
}

function floodHttp1(socket: Socket, flood: Flood): void {
  const credential = flood.authorization ? `Authorization: ${flood.authorization}\r\n` : '';
  const request = `GET ${flood.path} HTTP/1.1\r\nHost: x\r\n${credential}\r\n`;
  const chunk = Buffer.from(request.repeat(flood.requests ?? 1000));
  const send = (): void => {
    while (!socket.destroyed && socket.write(chunk) && flood.requests === null);
  };
  if (flood.requests === null) socket.on('drain', send);
  socket.resume();
  send();
}

/** Returns the number of streams that a SETTINGS frame allows at once. */
function readStreamsMax(payload: Buffer): number {
  for (let at = 0; at + SETTING_BYTES <= payload.length; at += SETTING_BYTES)
    if (payload.readUInt16BE(at) === MAX_CONCURRENT_STREAMS) return payload.readUInt32BE(at + 2);
  return CONCURRENT_STREAMS_DEFAULT;
}

function floodHttp2(socket: Socket, flood: Flood): void {
  const headers = formatHeaders(flood);
  let nextStream = 1;
  const active = new Set<number>();
  const openStreams = (count: number): void => {
    const frames: Buffer[] = [];
    for (let opened = 0; opened < count; opened += 1) {
      frames.push(formatFrame(FRAME.headers, FLAGS_END, nextStream, headers));
      active.add(nextStream);
      nextStream += 2;
    }
    if (frames.length > 0) socket.write(Buffer.concat(frames));
  };
  const window = Buffer.alloc(4);
  window.writeUInt32BE(0x7fff0000);
  socket.write(PREFACE);
  socket.write(formatFrame(FRAME.settings, 0, 0, Buffer.alloc(0)));
  socket.write(formatFrame(FRAME.windowUpdate, 0, 0, window));
  let isOpen = false;
  let left = flood.requests ?? Number.POSITIVE_INFINITY;
  let unread: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    unread = unread.length > 0 ? Buffer.concat([unread, chunk]) : chunk;
    let ended = 0;
    let at = 0;
    while (unread.length - at >= FRAME_HEADER_BYTES) {
      const length = unread.readUIntBE(at, 3);
      if (unread.length - at < FRAME_HEADER_BYTES + length) break;
      const [type, flags] = [unread[at + 3] ?? 0, unread[at + 4] ?? 0];
      if (type === FRAME.settings && !(flags & ACK)) {
        socket.write(formatFrame(FRAME.settings, ACK, 0, Buffer.alloc(0)));
        const payload = unread.subarray(at + FRAME_HEADER_BYTES, at + FRAME_HEADER_BYTES + length);
        if (!isOpen) openStreams(readStreamsMax(payload));
        isOpen = true;
      }
      const isEnd = type === FRAME.reset || (type <= FRAME.headers && flags & END_STREAM);
      if (isEnd && active.delete(unread.readUInt32BE(at + 5))) ended += 1;
      at += FRAME_HEADER_BYTES + length;
    }
    unread = unread.subarray(at);
    left -= ended;
    if (left > 0) openStreams(ended);
    else socket.destroy();
  });
}

function open(flood: Flood): void {
  const { hostname, port, protocol } = new URL(flood.url);
  const at = { host: hostname, port: Number(port) };
  const start = (): void => (flood.protocol === 'http2' ? floodHttp2 : floodHttp1)(socket, flood);
  const alpn = flood.protocol === 'http2' ? 'h2' : 'http/1.1';
  const socket: Socket =
    protocol === 'https:'
      ? connectTls({ ...at, ALPNProtocols: [alpn], rejectUnauthorized: false }, start)
      : connectPlain(at, start);
  socket.on('error', () => {});
  socket.once('close', () => setImmediate(open, flood));
}

process.once('message', (flood: Flood) => {
  for (let opened = 0; opened < flood.connections; opened += 1) open(flood);
});
process.once('disconnect', () => process.exit());
