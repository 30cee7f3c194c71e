/**
 * TLS in front of the HTTP server. Each connection is accepted by the server as before, so that all limits on connections
 * hold during the handshake too. Afterwards HTTP/1.1 goes back to the server, and HTTP/2 to its own.
 *
 * Versions, ciphers and session resumption are the platform's defaults, without renegotiation: HTTP/2 forbids it (RFC 9113,
 * section 9.2.1), and TLS 1.3 has none.
 */
import { constants } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { errorMessage, type Log } from '../../log.ts';
import { formatRawRefusal } from '../errors/raw-refusal.ts';
import type { Accepts } from '../limits/accepts.ts';
import { type Connections, formatConnectionKey } from '../limits/connections.ts';
import { HandshakeQueue } from '../limits/handshake-queue.ts';
import { addressBucketKey } from '../limits/rate-limit.ts';
import { createHttp2Front } from './http2-server.ts';

/** The time in which a client has to complete the handshake. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** The first byte of every TLS handshake. */
const HANDSHAKE_RECORD = 0x16;
const PLAIN_HTTP_MESSAGE =
  'This port accepts HTTPS, and the request came without TLS. Send it to the same address with https:// in place of http://.';

/** A connection that is not secure yet. */
interface Handshake {
  socket: Socket;
  /** Makes room for another handshake of the address, once this one has begun. */
  end(): void;
}

/** The certificate to present, and its replacements. */
export interface TlsOptions {
  readonly current: { certificate: string; key: string };
  onChange(listener: (pair: { certificate: string; key: string }) => void): void;
}

/** The limits of connections with TLS. */
export interface TlsLimits {
  connections: Connections;
  accepts: Accepts;
  log: Log;
  headerBytesMax: number;
  idleTimeoutMs: number;
  handshakeTimeoutMs?: number | undefined;
}

/**
 * Makes the server accept TLS alone. Call it before other listeners of `connection` are added. The server emits
 * `secureConnection` for each connection that speaks HTTP/1.1.
 */
export function serveTls(server: Server, options: TlsOptions, limits: TlsLimits): void {
  const { connections, log, handshakeTimeoutMs = HANDSHAKE_TIMEOUT_MS } = limits;
  const http1Listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  const http2 = createHttp2Front(server, limits);
  const handshakes = new Map<string, Handshake>();
  const queue = new HandshakeQueue(limits.accepts);
  const sockets = new Set<Socket>();
  const { certificate, key } = options.current;
  const tls = createServer({
    cert: certificate,
    key,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: handshakeTimeoutMs,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  });
  options.onChange((pair) =>
    tls.setSecureContext({
      cert: pair.certificate,
      key: pair.key,
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    }),
  );
  tls.on('secureConnection', (socket) => {
    endHandshake(formatConnectionKey(socket));
    if (socket.alpnProtocol === 'h2') http2.serve(socket);
    else serveHttp1(socket);
  });
  tls.on('tlsClientError', (error, socket) => {
    log.debug({ address: socket.remoteAddress, error: errorMessage(error) }, 'TLS handshake failed');
    socket.destroy();
  });
  const endHandshake = (id: string): void => {
    handshakes.get(id)?.end();
    handshakes.delete(id);
  };
  const serveHttp1 = (socket: TLSSocket): void => {
    for (const listener of http1Listeners) Reflect.apply(listener, server, [socket]);
    server.emit('secureConnection', socket);
  };
  connections.recogniseByAddress();
  server.on('connection', (socket: Socket) => {
    const id = formatConnectionKey(socket);
    handshakes.set(id, { socket, end: () => {} });
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      endHandshake(id);
      sockets.delete(socket);
    });
    socket.setTimeout(handshakeTimeoutMs, () => socket.destroy());
    startHandshake(socket, () =>
      queue.add(addressBucketKey(socket.remoteAddress ?? ''), (end) => {
        const handshake = handshakes.get(id);
        if (!handshake || socket.destroyed) {
          end();
          return;
        }
        handshake.end = end;
        tls.emit('connection', socket);
      }),
    );
  });
  extendClosing(server, { http2, handshakes, sockets });
}

/** Calls back when the first byte of the connection begins a handshake, and responds to anything else with a sentence. */
function startHandshake(socket: Socket, begin: () => void): void {
  socket.once('readable', () => {
    const head: Buffer | null = socket.read();
    if (head === null) {
      socket.destroy();
      return;
    }
    if (head[0] !== HANDSHAKE_RECORD) {
      socket.end(formatRawRefusal(PLAIN_HTTP_MESSAGE));
      // Unread bytes would reset the connection before the client has read the response.
      socket.resume();
      return;
    }
    socket.setTimeout(0);
    socket.unshift(head);
    begin();
  });
}

/** Extends the methods that close connections of the server to handshakes and to sessions of HTTP/2. */
function extendClosing(
  server: Server,
  {
    http2,
    handshakes,
    sockets,
  }: {
    http2: { closeWhenIdle(): void };
    handshakes: ReadonlyMap<string, Handshake>;
    sockets: ReadonlySet<Socket>;
  },
): void {
  const closeIdleConnections = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    closeIdleConnections();
    http2.closeWhenIdle();
    for (const { socket } of handshakes.values()) socket.destroy();
  };
  server.closeAllConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
}
