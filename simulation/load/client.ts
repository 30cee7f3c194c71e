/** A client of the API as the documentation wants it: it repeats a request with its key until it has an answer. */
import type { Draws } from '../kernel/draws.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { WireResponse } from '../machine/simulated-server.ts';
import type { Network } from '../network/network.ts';

/** A response of the API. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** The parsed JSON; the text of a body that is none. */
  body: unknown;
  /** How often the client has sent the request. */
  tries: number;
}

interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  /** The key of a POST, by which the server answers a copy as the first request. */
  idempotencyKey?: string;
  /** Requests at most until the client gives up; many by default. */
  triesMax?: number;
}

const TRIES_MAX = 12;
const RETRY_MS = 800;
const CLIENT_TIMEOUT_MS = 20_000;

/** Sends requests with one token. */
export class Client {
  readonly #name: string;
  readonly #token: string;
  readonly #parts: { scheduler: Scheduler; network: Network; draws: Draws };

  constructor(name: string, token: string, parts: { scheduler: Scheduler; network: Network; draws: Draws }) {
    this.#name = name;
    this.#token = token;
    this.#parts = parts;
  }

  /** Returns the answer; null when the client gave up, and the request may have taken effect. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer | null> {
    const { scheduler, network, draws } = this.#parts;
    const { body, headers = {}, idempotencyKey, triesMax = TRIES_MAX } = options;
    const content = Buffer.isBuffer(body) ? body : body === undefined ? undefined : JSON.stringify(body);
    for (let tries = 1; tries <= triesMax; tries += 1) {
      try {
        const response = await network.send(
          { name: this.#name, deliver: (run) => run() },
          {
            method,
            path,
            headers: {
              ...(this.#token === '' ? {} : { authorization: `Bearer ${this.#token}` }),
              ...(body === undefined || Buffer.isBuffer(body) ? {} : { 'content-type': 'application/json' }),
              ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
              ...headers,
            },
            ...(content === undefined ? {} : { body: content }),
          },
          CLIENT_TIMEOUT_MS,
        );
        if (response.status <= 500 && response.status !== 429) return { ...parse(response), tries };
      } catch {
        // The connection broke, so the request is sent again.
      }
      await new Promise<void>((resolve) =>
        scheduler.after(RETRY_MS * Math.min(tries, 8) * draws.between(0.5, 1.5), '', resolve),
      );
    }
    return null;
  }
}

function parse({ status, headers, body }: WireResponse): Omit<Answer, 'tries'> {
  const text = body.toString();
  try {
    return { status, headers, body: text === '' ? null : JSON.parse(text) };
  } catch {
    return { status, headers, body: text };
  }
}
