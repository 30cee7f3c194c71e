/**
 * Signed requests to one bucket of an S3-compatible store, tried again while that can help. Every request made here can
 * be repeated without harm: a blob is written whole under a key of its own, never changed, and removed only once nobody
 * names it.
 *
 * `aws4fetch` signs; node:http sends, because fetch sends a stream without its length, which S3 insists on, and cannot
 * tell a store that fell silent from a reader that takes its time. Time is the real one, not the server's clock: S3 refuses
 * signatures that are a quarter of an hour off.
 *
 * What must stay true: no message carries a key id, a secret, a signature or an address with a query.
 */
import { createReadStream } from 'node:fs';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { FILE_CHUNK_BYTES } from './hashed-file.ts';

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Of temporary credentials only. */
  sessionToken?: string;
}

export interface Bucket {
  name: string;
  /** The bucket itself, without a slash at the end: its name is in the path or in the host. */
  url: URL;
  region: string;
}

/** How long to go on when the store does not do what it is asked. */
export interface RetryPolicy {
  /** Attempts in all. */
  attemptsMax: number;
  /** Before the second attempt; doubled before each further one. */
  backoffMs: number;
  /** Without a byte from or to the store. */
  idleTimeoutMs: number;
}

/** One request: what it is for, as words that follow "to", and what goes on the wire. */
interface S3Request {
  purpose: string;
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** The whole name of the object; absent: the bucket itself. */
  object?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  /** The body: a file of so many bytes, with its SHA-256 in hex. */
  file?: { path: string; bytes: number; sha256: string };
}

/** Answers what `read` makes of the answer, which has a status of 2xx; throws S3Error. */
export type S3Sender = <T>(ask: S3Request, read: (answer: IncomingMessage) => Promise<T>) => Promise<T>;

/** The store refused or could not be reached; says which bucket and what was wanted. */
export class S3Error extends Error {
  /** The HTTP status, or null when there was no answer. */
  readonly status: number | null;
  readonly retryable: boolean;
  constructor(message: string, status: number | null, mayPass: boolean, cause?: unknown) {
    super(message, { cause });
    this.status = status;
    this.retryable = mayPass;
  }
}

const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
/** An answer that says why is a few hundred bytes; a proxy in between may send a whole page. */
const ERROR_BODY_BYTES_MAX = 64 * 1024;
const TRANSIENT_STATUSES = new Set([429, 500, 502, 503, 504]);
/** S3 sends this with a 400 when a body did not arrive in time. */
const TRANSIENT_CODE = 'RequestTimeout';
const TRANSIENT_ERRORS = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ETIMEDOUT',
]);

/** Makes the one way to the bucket. */
export function createS3Sender(bucket: Bucket, credentials: S3Credentials, patience: RetryPolicy): S3Sender {
  const { Agent, request } = bucket.url.protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true });
  const derivedKeys = new Map<string, ArrayBuffer>();

  return async (ask, read) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await read(await once(ask));
      } catch (error) {
        const failure = error instanceof S3Error ? error : unreached(bucket, ask, error);
        if (!failure.retryable || attempt >= patience.attemptsMax) throw failure;
        await delay(patience.backoffMs * 2 ** (attempt - 1));
      }
    }
  };

  async function once(ask: S3Request): Promise<IncomingMessage> {
    const url = new URL(bucket.url);
    if (ask.object !== undefined) url.pathname = `${url.pathname.replace(/\/$/, '')}/${ask.object}`;
    url.search = new URLSearchParams(ask.query).toString();
    const signer = new AwsV4Signer({
      ...credentials,
      method: ask.method,
      url: url.href,
      headers: { ...ask.headers, 'x-amz-content-sha256': ask.file?.sha256 ?? EMPTY_SHA256 },
      service: 's3',
      region: bucket.region,
      cache: derivedKeys,
    });
    const { headers } = await signer.sign();
    if (ask.file) headers.set('content-length', String(ask.file.bytes));
    const path = signer.encodedSearch ? `${signer.encodedPath}?${signer.encodedSearch}` : signer.encodedPath;
    const sent = request(url, {
      agent,
      method: ask.method,
      path,
      headers: Object.fromEntries(headers),
      timeout: patience.idleTimeoutMs,
    });
    const answer = await answerTo(sent, ask);
    if (Math.floor((answer.statusCode ?? 0) / 100) === 2) return answer;
    const refusal = await refused(bucket, ask, answer);
    if (!sent.writableFinished) sent.destroy();
    throw refusal;
  }

  function answerTo(sent: ClientRequest, ask: S3Request): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      let answer: IncomingMessage | undefined;
      sent.on('response', (response) => {
        answer = response;
        resolve(response);
      });
      // A store that refuses early may hang up while the body is still on its way: then its answer counts.
      sent.on('error', reject);
      sent.on('timeout', () => {
        const readerIsSlow =
          answer && (answer.complete || answer.readableLength >= answer.readableHighWaterMark);
        if (readerIsSlow) sent.setTimeout(patience.idleTimeoutMs);
        else (answer ?? sent).destroy(silent(bucket, ask, patience.idleTimeoutMs));
      });
      if (ask.file)
        pipeline(
          createReadStream(ask.file.path, { highWaterMark: FILE_CHUNK_BYTES }),
          sent,
          (error) => error && reject(error),
        );
      else sent.end();
    });
  }
}

/** The body as text, of which no more than so many bytes are read. */
export async function readText(answer: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(chunks).toString();
}

function wanted(bucket: Bucket, ask: S3Request): string {
  return `The bucket "${bucket.name}" at ${bucket.url.host}, asked to ${ask.purpose},`;
}

/** Only the code is taken from the answer: its other fields repeat key id, signature and what was signed. */
async function refused(bucket: Bucket, ask: S3Request, answer: IncomingMessage): Promise<S3Error> {
  const status = answer.statusCode ?? 0;
  const text = await readText(answer, ERROR_BODY_BYTES_MAX).catch(() => '');
  const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1];
  const region = answer.headers['x-amz-bucket-region'];
  const elsewhere = region !== undefined && region !== bucket.region;
  return new S3Error(
    `${wanted(bucket, ask)} answered ${status}${code ? ` ${code}` : ''}.${elsewhere ? ` It is in the region ${region}; the address says ${bucket.region}.` : ''}`,
    status,
    TRANSIENT_STATUSES.has(status) || code === TRANSIENT_CODE,
  );
}

function unreached(bucket: Bucket, ask: S3Request, error: unknown): S3Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const why = code || (error instanceof Error ? error.message : String(error));
  return new S3Error(
    `${wanted(bucket, ask)} gave no whole answer: ${why}.`,
    null,
    TRANSIENT_ERRORS.has(code),
    error,
  );
}

function silent(bucket: Bucket, ask: S3Request, idleMs: number): S3Error {
  return new S3Error(`${wanted(bucket, ask)} was silent for ${idleMs} ms.`, null, true);
}
