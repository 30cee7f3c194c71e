/** Sends one POST to a receiver: to the checked address, without redirects, within WEBHOOK_TIMEOUT_MS. */
import { type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { API_VERSION, WEBHOOK_RESPONSE_BYTES_MAX, WEBHOOK_TIMEOUT_MS } from '@switchyard/contract/limits.ts';
import type { ConversationStatus } from '@switchyard/contract/states.ts';
import type { Clock } from '../../platform/clock.ts';
import { errorMessage } from '../../platform/log.ts';
import { type AddressRule, type ResolveName, resolveAllowedAddress } from './addresses.ts';

/** The outcome of one attempt, in the columns of a conversation. */
export interface DeliveryOutcome {
  status: ConversationStatus;
  /** 0 without a response. */
  httpStatus: number;
  durationMs: number;
  error: string;
  /** The first WEBHOOK_RESPONSE_BYTES_MAX bytes of the response, as text. */
  body: string;
  /** The delay that the receiver requests by Retry-After, in milliseconds, or null. */
  retryAfterMs: number | null;
}

/** The head of a response of a receiver; its body is the stream. */
export type ReceiverResponse = Readable & { statusCode?: number; headers: IncomingHttpHeaders };

/** Sends the message to the address; resolves with the response when its head arrives. */
export type PostDelivery = (
  url: URL,
  address: string,
  message: { headers: Record<string, string>; body: string },
  signal: AbortSignal,
) => Promise<ReceiverResponse>;

/** The services and the address rule of an attempt. */
export interface SendContext {
  clock: Clock;
  allows: AddressRule;
  resolve: ResolveName;
  /** Absent on a real machine. */
  post: PostDelivery | undefined;
}

/** Returns the outcome of one attempt and never throws. `signal` aborts the attempt. */
export async function sendDelivery(
  { clock, allows, resolve, post = postDelivery }: SendContext,
  message: { url: string; headers: Record<string, string>; body: string },
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const startedAt = clock.now();
  const outcome = (rest: Partial<DeliveryOutcome> & Pick<DeliveryOutcome, 'status'>): DeliveryOutcome => ({
    httpStatus: 0,
    error: '',
    body: '',
    retryAfterMs: null,
    ...rest,
    durationMs: Math.max(0, clock.now() - startedAt),
  });
  const stop = new AbortController();
  let isTimedOut = false;
  const cancelTimer = clock.after(WEBHOOK_TIMEOUT_MS, () => {
    isTimedOut = true;
    stop.abort();
  });
  const abort = () => stop.abort();
  signal.addEventListener('abort', abort);
  const timeoutMessage = `The receiver sent no response within ${WEBHOOK_TIMEOUT_MS / 1000} s.`;
  try {
    const url = new URL(message.url);
    const address = await rejectOnAbort(resolveAllowedAddress(url, allows, resolve), stop.signal);
    const response = await post(url, address, message, stop.signal);
    const httpStatus = response.statusCode ?? 0;
    // The status decides the outcome, also when the body does not arrive in time.
    const body = await readBody(response);
    const retryAfterMs = parseRetryAfter(response.headers['retry-after'], clock.now());
    const isSuccess = httpStatus >= 200 && httpStatus < 300;
    return outcome({
      status: isSuccess ? 'succeeded' : 'failed',
      httpStatus,
      body,
      retryAfterMs,
      error: isSuccess
        ? ''
        : `The receiver returned ${httpStatus}; it must return 2xx when it has the event.`,
    });
  } catch (error) {
    if (isTimedOut) return outcome({ status: 'timed_out', error: timeoutMessage });
    return outcome({ status: 'failed', error: sanitizeText(errorMessage(error)).slice(0, ERROR_CHARS_MAX) });
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', abort);
    stop.abort();
  }
}

const ERROR_CHARS_MAX = 1000;

/** Rejects when the signal aborts, because a DNS lookup cannot be cancelled. */
function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('The delivery was aborted.')), { once: true });
    work.then(resolve, reject);
  });
}

/** Sends the message over a connection of its own. */
const postDelivery: PostDelivery = (url, address, message, signal) =>
  new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    const sent = request(
      url,
      {
        method: 'POST',
        headers: {
          ...message.headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(message.body),
          'user-agent': `Switchyard/${API_VERSION}`,
          connection: 'close',
        },
        // A new connection to the checked address: a second lookup of the name could return another one (DNS rebinding).
        agent: false,
        lookup: (_name, options, callback) => {
          const family = isIP(address);
          if (options.all) callback(null, [{ address, family }]);
          else callback(null, address, family);
        },
        signal,
      },
      resolve,
    );
    sent.on('error', reject);
    sent.end(message.body);
  });

/** Returns the first WEBHOOK_RESPONSE_BYTES_MAX bytes of the body as text; of an aborted body, the bytes that arrived. */
function readBody(response: ReceiverResponse): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const done = () => {
      const content = Buffer.concat(chunks).subarray(0, WEBHOOK_RESPONSE_BYTES_MAX);
      resolve(sanitizeText(content.toString('utf8')));
      response.destroy();
    };
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= WEBHOOK_RESPONSE_BYTES_MAX) done();
    });
    for (const event of ['end', 'error', 'aborted', 'close']) response.on(event, done);
  });
}

/** Replaces lone surrogates and NUL, which PostgreSQL cannot store. */
function sanitizeText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Parses Retry-After, seconds or a date (RFC 9110, section 10.2.3), to milliseconds from now; null for other values. */
function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
