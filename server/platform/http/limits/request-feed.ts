/**
 * Feeds the bytes of each connection of HTTP/1.1 to Node's parser a request at a time.
 *
 * Node parses all that one read returned before it does anything else: 64 KiB are 2,000 short requests, which take 20 ms. With
 * 400 such connections, every other caller waited 18 s. Therefore the parser gets a head, and the
 * following bytes when its response is sent. Meanwhile the connection is not read. A client that sends
 * more than 32 requests ahead of their responses loses its connection.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { formatRawRefusal } from '../errors/raw-refusal.ts';

/** Requests on one connection that were sent and have no response. */
const UNANSWERED_MAX = 32;
/** Listeners of the end of a response; more of them are a leak. */
const CLOSE_LISTENERS_MAX = 20;
const NO_BYTES = Buffer.alloc(0);
const HEAD_END = Buffer.from('\r\n\r\n');
/** `GET / HTTP/1.0` with the end of its head. */
const REQUEST_BYTES_MIN = 18;
/**
 * Bytes that the parser gets at least: with fewer, a client that sends nothing but ends of heads would call it for every four
 * bytes. So the parser may emit up to seven of the shortest requests at once. Parts of bodies are larger, because the
 * handler of an upload is called for each.
 */
const SLICE_BYTES_MIN = 128;
const BODY_SLICE_BYTES_MIN = 1024;
const TOO_MANY_REQUESTS = formatRawRefusal(
  `The connection has more than ${UNANSWERED_MAX} requests without a response. Wait for responses before you send more.`,
);

/** Feeds the connections of the server, which `connectionEvent` announces after Node's server has set up its parser. */
export function feedRequests(server: Server, connectionEvent: 'connection' | 'secureConnection'): void {
  const feeds = new WeakMap<Socket, RequestFeed>();
  server.on(connectionEvent, (socket: Socket) => feeds.set(socket, new RequestFeed(socket)));
  server.on('request', (request, response) => feeds.get(request.socket)?.addRequest(request, response));
}

class RequestFeed {
  readonly #socket: Socket;
  readonly #parse: (bytes: Buffer) => void;
  /** Bytes that the parser does not have yet; while there are any, the connection is not read. */
  #held: Buffer = NO_BYTES;
  /** In the order of their requests. */
  readonly #responses = new Set<ServerResponse>();
  #latest: IncomingMessage | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Node's server has added its parser as a listener.
    const [parse] = socket.listeners('data');
    if (!parse)
      throw new Error('The server of Node has no data listener on its connection; see _http_server.js.');
    this.#parse = (bytes) => Reflect.apply(parse, socket, [bytes]);
    socket.removeAllListeners('data');
    socket.on('data', (chunk: Buffer) => {
      this.#held = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
      // Counted before the parser gets the first one, which costs a flood's connection most of its time.
      if (!this.#isInBody && this.#hasTooMany()) this.#refuse();
      else if (!this.#feed()) this.#hold();
    });
    socket.on('drain', () => this.#continue());
  }

  addRequest(request: IncomingMessage, response: ServerResponse): void {
    this.#latest = request;
    this.#responses.add(response);
    // Each limit and each step of a request has one, so that the default of 10 warned.
    response.setMaxListeners(CLOSE_LISTENERS_MAX);
    response.once('close', () => {
      this.#responses.delete(response);
      if (this.#latest === request && request.complete) this.#latest = null;
      this.#continue();
    });
  }

  get #isInBody(): boolean {
    return this.#latest?.complete === false;
  }

  #continue(): void {
    if (this.#held.length === 0) return;
    if (this.#feed()) this.#socket.resume();
    else this.#hold();
  }

  /** Passes bytes to the parser; returns false when some have to wait. */
  #feed(): boolean {
    while (this.#held.length > 0) {
      if (!this.#socket.writable) {
        this.#held = NO_BYTES;
        return true;
      }
      const isInBody = this.#isInBody;
      // Node's parser must not get bytes while the server waits for the client to read.
      if ((this.#responses.size > 0 && !isInBody) || this.#socket.writableNeedDrain) return false;
      const minimum = isInBody ? BODY_SLICE_BYTES_MIN : SLICE_BYTES_MIN;
      const end = this.#held.indexOf(HEAD_END, minimum - HEAD_END.length);
      const slice = end < 0 ? this.#held : this.#held.subarray(0, end + HEAD_END.length);
      this.#held = this.#held.subarray(slice.length);
      this.#parse(slice);
    }
    return true;
  }

  #hold(): void {
    if (this.#hasTooMany()) this.#refuse();
    else this.#socket.pause();
  }

  #hasTooMany(): boolean {
    const count = this.#responses.size;
    if (this.#held.length < (UNANSWERED_MAX - count) * REQUEST_BYTES_MIN) return false;
    return count + countRequests(this.#held, UNANSWERED_MAX) > UNANSWERED_MAX;
  }

  #refuse(): void {
    this.#held = NO_BYTES;
    this.#socket.pause();
    const [first] = this.#responses;
    if (!first?.headersSent) this.#socket.write(TOO_MANY_REQUESTS);
    this.#socket.destroySoon();
  }
}

/** Counts the requests that begin in the bytes, up to one more than `max`. A body in chunks ends the count. */
export function countRequests(bytes: Buffer, max: number): number {
  let count = 0;
  for (let at = 0; count <= max; count += 1) {
    const end = bytes.indexOf(HEAD_END, at);
    if (end < 0) break;
    const head = bytes.toString('latin1', at, end);
    if (/\ntransfer-encoding:/i.test(head)) return count + 1;
    const [, length = '0'] = /\ncontent-length:[ \t]*(\d{1,15})/i.exec(head) ?? [];
    at = end + HEAD_END.length + Number(length);
  }
  return count;
}
