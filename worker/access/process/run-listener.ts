/**
 * The listener of one run: takes the requests of its app within the bounds of the run, and passes them on. A refusal of what
 * no client sends comes after a pause, so that an app that only causes refusals costs little.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type ApiTarget, type ProxiedAccess, SOCKET_NAME, SOCKETS_DESCRIPTOR } from '../protocol.ts';
import { Admission } from './admission.ts';
import {
  ACTIVE_MAX,
  ACTIVE_TOTAL_MAX,
  CONNECTIONS_MAX,
  CONNECTIONS_TOTAL_MAX,
  computeShare,
  REQUESTS_BURST,
  REQUESTS_PER_SECOND,
  SLICE_BYTES_MAX,
  UNTRUSTED,
  WAITING_MAX,
} from './bounds.ts';
import { passOn, RATE_WAIT_MS_MAX, refuse, ServerConnections } from './pass-on.ts';
import { SequentialConnection } from './sequential-connection.ts';

class RunConnections {
  readonly #countMax: () => number;
  /** In the order in which they were opened. */
  readonly #open = new Set<SequentialConnection>();

  constructor(countMax: () => number) {
    this.#countMax = countMax;
  }

  /** Returns false for a connection that it has closed at once. */
  add(connection: SequentialConnection): boolean {
    if (this.#open.size >= this.#countMax() && !this.#closeOne()) {
      connection.destroy();
      return false;
    }
    this.#open.add(connection);
    connection.once('close', () => this.#open.delete(connection));
    return true;
  }

  destroy(): void {
    for (const connection of this.#open) connection.destroy();
  }

  #closeOne(): boolean {
    const kinds: ((one: SequentialConnection) => boolean)[] = [
      ({ isTrusted, isBusy }) => !isTrusted && !isBusy,
      ({ isTrusted }) => !isTrusted,
      ({ isBusy }) => !isBusy,
    ];
    for (const isKind of kinds) {
      for (const connection of this.#open) {
        if (!isKind(connection)) continue;
        this.#open.delete(connection);
        connection.destroy();
        return true;
      }
    }
    return false;
  }
}

/** The port on the loopback of a sandbox. */
const SANDBOX_PORT = 4747;
const REFUSAL_DELAY_MS = 1000;
/** The time for the first head of a connection, and for each further one from its first byte. */
const HEAD_TIMEOUT_MS = 10_000;

const MALFORMED_STATUS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

interface RunListenerParts {
  access: ProxiedAccess;
  /** The bound port; undefined for an access with a folder. */
  port: unknown;
  /** Returns the server; null while the worker does not know it yet. */
  findTarget(): ApiTarget | null;
  /** The number of runs that share this process. */
  countRuns(): number;
}

/** Listens for the app of one run. */
export class RunListener {
  /** The proof that the server asks for. */
  proof: string;
  readonly #parts: RunListenerParts;
  readonly #server: Server;
  readonly #connections = new RunConnections(() => this.#share(CONNECTIONS_MAX, CONNECTIONS_TOTAL_MAX));
  readonly #serverConnections = new ServerConnections(ACTIVE_MAX);
  /** Of requests with the token of the run. */
  readonly #admission: Admission;
  /** Of other requests, and of what is no request. */
  readonly #untrusted: Admission;

  constructor(parts: RunListenerParts) {
    this.#parts = parts;
    this.proof = parts.access.proof;
    const common = { waitMsMax: RATE_WAIT_MS_MAX };
    const now = () => performance.now();
    this.#admission = new Admission(
      {
        ...common,
        activeMax: () => this.#share(ACTIVE_MAX, ACTIVE_TOTAL_MAX),
        waitingMax: WAITING_MAX,
        perSecond: REQUESTS_PER_SECOND,
        burst: REQUESTS_BURST,
      },
      now,
    );
    const { active, activeTotal, waiting, perSecond, burst } = UNTRUSTED;
    const activeMax = () => this.#share(active, activeTotal);
    this.#untrusted = new Admission({ ...common, activeMax, waitingMax: waiting, perSecond, burst }, now);
    const handle = (request: IncomingMessage, response: ServerResponse): void => {
      this.#handle(request, response).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else refuse(response, 503, `The server cannot be reached: ${String(error)}. Send the request again.`);
      });
    };
    // Node would answer a request without a host, or with an expectation, without regard to any bound.
    const options = { requireHostHeader: false, highWaterMark: SLICE_BYTES_MAX };
    const timeouts = { headersTimeout: HEAD_TIMEOUT_MS, connectionsCheckingInterval: 1000 };
    this.#server = createServer({ ...options, ...timeouts }, handle);
    this.#server.on('checkExpectation', handle);
    this.#server.on('clientError', (error: NodeJS.ErrnoException, connection: unknown) => {
      if (connection instanceof SequentialConnection) void this.#refuseMalformed(error, connection);
    });
    const parsers = this.#server.listeners('connection');
    this.#server.removeAllListeners('connection');
    this.#server.on('connection', (socket: Socket) => {
      const connection = new SequentialConnection(socket);
      if (!this.#connections.add(connection)) return;
      for (const parse of parsers) Reflect.apply(parse, this.#server, [connection]);
    });
  }

  /** Starts to listen; returns the port as the app sees it. */
  async listen(): Promise<number> {
    const { access, port } = this.#parts;
    if (access.folder === null) {
      await this.#listen(port);
      const { port: number = 0 }: Partial<AddressInfo> = Object(this.#server.address());
      return number;
    }
    // The path of a socket has at most 107 bytes, so it begins with the descriptor of the folder.
    const path = `/proc/self/fd/${SOCKETS_DESCRIPTOR}/${access.folder}/${SOCKET_NAME}`;
    // A process that was killed leaves its sockets.
    await rm(path, { force: true });
    await this.#listen({ path });
    // The app runs as another user and has to connect. The mode of the folder above keeps all other users out.
    await chmod(path, 0o666);
    return SANDBOX_PORT;
  }

  /** Ends every request under way. */
  async close(): Promise<void> {
    this.#admission.close();
    this.#untrusted.close();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    this.#connections.destroy();
    this.#serverConnections.destroy();
    await closed;
  }

  #share(max: number, totalMax: number): number {
    return computeShare(max, totalMax, this.#parts.countRuns());
  }

  async #listen(place: unknown): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(place, () => resolve());
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const connection: unknown = request.socket;
    if (!(connection instanceof SequentialConnection) || !connection.begin(request, response)) return;
    const hasToken = this.#hasToken(request);
    if (hasToken) connection.isTrusted = true;
    const admission = hasToken ? this.#admission : this.#untrusted;
    const onGone = (callback: () => void): void => void response.once('close', callback);
    if (!(await admission.enter(onGone))) {
      await pause(REFUSAL_DELAY_MS);
      return refuse(response, 429, describeBounds(hasToken));
    }
    try {
      const { access, findTarget } = this.#parts;
      const { proofHeader, trace } = access;
      const destination = { proof: this.proof, proofHeader, connections: this.#serverConnections, trace };
      await passOn(request, response, { ...destination, target: findTarget() });
    } finally {
      admission.leave();
    }
  }

  #hasToken({ headers: { authorization = '' } }: IncomingMessage): boolean {
    const [, token = ''] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
    return timingSafeEqual(hash(token), hash(this.#parts.access.token));
  }

  /** Such connections wait like requests of strangers, so that they cost as little. */
  async #refuseMalformed(error: NodeJS.ErrnoException, connection: SequentialConnection): Promise<void> {
    connection.fail();
    const onGone = (callback: () => void): void => void connection.once('close', callback);
    if (await this.#untrusted.enter(onGone)) this.#untrusted.leave();
    else await pause(REFUSAL_DELAY_MS);
    const status = MALFORMED_STATUS[error.code ?? ''] ?? '400 Bad Request';
    if (!connection.canRespond) connection.destroy();
    else connection.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`, () => connection.destroy());
  }
}

function describeBounds(hasToken: boolean): string {
  if (hasToken)
    return `The app of this run has ${ACTIVE_MAX} requests under way and ${WAITING_MAX} that wait, or sends more than ${REQUESTS_PER_SECOND} a second. Send the request again in a second.`;
  const { active, waiting, perSecond } = UNTRUSTED;
  return `${active} requests without the token of this run are under way and ${waiting} wait, or more than ${perSecond} a second come. Send the token in NEXTMV_API_KEY, or the request again in a second.`;
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
