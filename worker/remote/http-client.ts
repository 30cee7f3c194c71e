/**
 * Sends the requests of a worker to the server, over connections that stay open. A proxy before the server may close idle
 * connections. The caller repeats a request that met such a close, like any other that failed on its way.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { waitForResponse } from '../wait-for-response.ts';

/** A response takes at most as long as the server waits for instructions, and a while for the network. */
const RESPONSE_TIMEOUT_MS = 60_000;
/** Shorter than the five seconds after which Node's servers and usual proxies close an idle connection. */
const IDLE_CONNECTION_MS = 4000;

/** A response has at most as many jobs as the protocol allows, each with a small input, its secrets and its options. */
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;

/** The server refused a request with a 4xx. */
export class RefusedError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The server could not be reached, or could not respond now. */
class UnreachableError extends Error {}

interface RequestBody {
  content: Buffer | Readable;
  type: string;
  bytes: number;
}

/** Requests to one server. A method throws RefusedError, or another error for a request that may be repeated. */
export interface ServerRequests {
  /** The address of the server without a trailing slash. */
  readonly url: string;
  /** Sends JSON and returns the parsed response; null for one without a body. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Uploads the stream of known length, and returns the parsed response. */
  upload(path: string, content: Readable, bytes: number): Promise<unknown>;
  /** Opens content behind a signed URL of the server. */
  download(path: string): Promise<Readable>;
}

/** Requests to one server with one worker token. */
export class HttpClient implements ServerRequests {
  readonly #base: URL;
  readonly #token: string;
  readonly #agent: HttpAgent | HttpsAgent;

  /** `url` is the address of the server. */
  constructor(url: string, token: string) {
    this.#base = new URL(url);
    this.#token = token;
    const settings = { keepAlive: true, timeout: IDLE_CONNECTION_MS, scheduling: 'lifo' as const };
    this.#agent = this.#base.protocol === 'https:' ? new HttpsAgent(settings) : new HttpAgent(settings);
  }

  /** The address of the server without a trailing slash. */
  get url(): string {
    return this.#base.href.replace(/\/$/, '');
  }

  /** Sends JSON and returns the parsed response; null for one without a body. Throws RefusedError or UnreachableError. */
  async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const response = await this.#send(
      method,
      path,
      content && { content, type: 'application/json', bytes: content.length },
    );
    const received = await readBody(response);
    return received.length === 0 ? null : JSON.parse(received.toString('utf8'));
  }

  /** Uploads the stream of known length, and returns the parsed response. */
  async upload(path: string, content: Readable, bytes: number): Promise<unknown> {
    const response = await this.#send('PUT', path, { content, type: 'application/octet-stream', bytes });
    return JSON.parse((await readBody(response)).toString('utf8'));
  }

  /** Opens content behind a signed URL of the server. */
  download(path: string): Promise<Readable> {
    return this.#send('GET', path);
  }

  /** Closes the connections. */
  close(): void {
    this.#agent.destroy();
  }

  async #send(method: string, path: string, body?: RequestBody): Promise<IncomingMessage> {
    const { protocol, pathname } = this.#base;
    const open = protocol === 'https:' ? httpsRequest : httpRequest;
    const outgoing = open(new URL(`${pathname.replace(/\/$/, '')}${path}`, this.#base), {
      method,
      agent: this.#agent,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body ? { 'content-type': body.type, 'content-length': body.bytes } : {}),
      },
    });
    outgoing.setTimeout(RESPONSE_TIMEOUT_MS, () => outgoing.destroy(new Error('it did not respond in time')));
    const responded = waitForResponse(outgoing);
    if (body?.content instanceof Readable) pipeline(body.content, outgoing).catch(() => outgoing.destroy());
    else outgoing.end(body?.content);
    const response = await responded.catch((error: unknown) => {
      throw new UnreachableError(`The server ${this.url} cannot be reached: ${describe(error)}.`);
    });
    const status = response.statusCode ?? 0;
    if (status < 300) return response;
    const text = (await readBody(response).catch(() => Buffer.alloc(0))).toString('utf8');
    const message = `${method} ${path.split('?')[0]} was refused with ${status}: ${readMessage(text)}`;
    // 429 is for the moment, as are all errors of the server and of a proxy before it.
    if (status >= 400 && status < 500 && status !== 429) throw new RefusedError(status, message);
    throw new UnreachableError(message);
  }
}

async function readBody(response: IncomingMessage): Promise<Buffer> {
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > RESPONSE_BYTES_MAX) throw new Error(`it has more than ${RESPONSE_BYTES_MAX} bytes`);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    throw new UnreachableError(`The response of the server ended early: ${describe(error)}.`);
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}

/** Returns the message of an error response, or its beginning when it comes from a proxy. */
function readMessage(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    return String((isRecord(body) ? (body.error ?? body.message) : undefined) ?? text);
  } catch {
    return text.slice(0, 200);
  }
}
