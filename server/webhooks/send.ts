/** One POST to a receiver: to the address that was looked at, without following anything, for so long and no longer. */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { API_VERSION, WEBHOOK_RESPONSE_BYTES_MAX, WEBHOOK_TIMEOUT_MS } from '@switchyard/contract/limits.ts';
import type { ConversationStatus } from '@switchyard/contract/states.ts';
import type { Clock } from '../clock.ts';
import { errorMessage } from '../log.ts';
import { type AddressRule, type ResolveName, resolveAllowedAddress } from './addresses.ts';

export interface DeliveryOutcome {
  status: ConversationStatus;
  /** 0 for no answer. */
  httpStatus: number;
  durationMs: number;
  error: string;
  /** At most 64 KiB of it, as text. */
  body: string;
  /** Milliseconds that the receiver asks to be left alone for, or null. */
  retryAfterMs: number | null;
}

export interface SendContext {
  clock: Clock;
  allows: AddressRule;
  resolve: ResolveName;
}

/** Never throws: whatever happens is an outcome. `signal` ends it early. */
export async function sendDelivery(
  { clock, allows, resolve }: SendContext,
  message: { url: string; headers: Record<string, string>; body: string },
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const began = clock.now();
  const outcome = (rest: Partial<DeliveryOutcome> & Pick<DeliveryOutcome, 'status'>): DeliveryOutcome => ({
    httpStatus: 0,
    error: '',
    body: '',
    retryAfterMs: null,
    ...rest,
    durationMs: Math.max(0, clock.now() - began),
  });
  const stop = new AbortController();
  let late = false;
  const cancelTimer = clock.after(WEBHOOK_TIMEOUT_MS, () => {
    late = true;
    stop.abort();
  });
  const abort = () => stop.abort();
  signal.addEventListener('abort', abort);
  const timedOut = `There was no answer within ${WEBHOOK_TIMEOUT_MS / 1000} s.`;
  try {
    const url = new URL(message.url);
    const address = await unlessStopped(resolveAllowedAddress(url, allows, resolve), stop.signal);
    const response = await post(url, address, message, stop.signal);
    const httpStatus = response.statusCode ?? 0;
    // What it answered counts, also when the rest of it does not come in time.
    const body = await readBody(response);
    const retryAfterMs = readRetryAfter(response.headers['retry-after'], clock.now());
    const good = httpStatus >= 200 && httpStatus < 300;
    return outcome({
      status: good ? 'succeeded' : 'failed',
      httpStatus,
      body,
      retryAfterMs,
      error: good ? '' : `The receiver answered ${httpStatus}; 2xx means that it has the event.`,
    });
  } catch (error) {
    if (late) return outcome({ status: 'timed_out', error: timedOut });
    return outcome({ status: 'failed', error: readable(errorMessage(error)).slice(0, ERROR_CHARS_MAX) });
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', abort);
    stop.abort();
  }
}

const ERROR_CHARS_MAX = 1000;

/** A lookup cannot be taken back, but nobody has to wait for it. */
function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('It was stopped.')), { once: true });
    work.then(resolve, reject);
  });
}

function post(
  url: URL,
  address: string,
  message: { headers: Record<string, string>; body: string },
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
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
        // A connection of its own, to the very address that was looked at: the name is not looked up a second time.
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
}

/** As much of it as is kept; a body that breaks off is what came of it. */
function readBody(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const done = () => {
      const content = Buffer.concat(chunks).subarray(0, WEBHOOK_RESPONSE_BYTES_MAX);
      resolve(readable(content.toString('utf8')));
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

/** Text that every database takes. */
function readable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Seconds, or a date. */
function readRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
