/**
 * Sends signed requests to one bucket of an S3-compatible store, with retries. Repeating a request is safe: a blob is
 * written whole under a key of its own, never changes, and is removed only when no row names it.
 *
 * `aws4fetch` signs. node:http sends, because fetch omits the content length of a stream, which S3 requires, and does not
 * distinguish a silent store from a slow reader. Signatures use the real time, not the injected clock: S3 refuses those that
 * are 15 minutes off.
 *
 * Invariant: no message contains a key id, a secret, a signature or an address with a query.
 */
import { createReadStream } from 'node:fs';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { FILE_CHUNK_BYTES, iterateBuffers } from './hashed-file.ts';

/** Credentials of AWS's form. */
export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** For temporary credentials only. */
  sessionToken?: string;
}

/** A bucket and its address. */
export interface Bucket {
  name: string;
  /** Address of the bucket, whose name is in the path or in the host; without a slash at the end. */
  url: URL;
  region: string;
}

/** Retries and timeouts of requests. */
export interface RetryPolicy {
  /** Number of attempts, the first included. */
  attemptsMax: number;
  /** Delay before the second attempt; it doubles before each further one. */
  backoffMs: number;
  /** Longest time without a byte from or to the store. */
  idleTimeoutMs: number;
}

/** One request. `purpose` describes it in messages, as an infinitive without "to". */
interface S3Request {
  purpose: string;
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** The full name of the object; absent for the bucket itself. */
  object?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  /** The body: a file with its length, and its SHA-256 in hex. */
  file?: { path: string; bytes: number; sha256: string };
}

/** Sends a request and returns the result of `read` for the response, whose status is 2xx. Throws S3Error. */
export type S3Sender = <T>(
  s3Request: S3Request,
  read: (response: IncomingMessage) => Promise<T>,
) => Promise<T>;

/** The store refused or was unreachable; the message names the bucket and the purpose of the request. */
export class S3Error extends Error {
  /** The HTTP status, or null without a response. */
  readonly status: number | null;
  readonly retryable: boolean;
  constructor(message: string, status: number | null, retryable: boolean, cause?: unknown) {
    super(message, { cause });
    this.status = status;
    this.retryable = retryable;
  }
}

const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
/** An error of S3 has a few hundred bytes; a proxy may send a whole page instead. */
const ERROR_BODY_BYTES_MAX = 64 * 1024;
const TRANSIENT_STATUSES = new Set([429, 500, 502, 503, 504]);
/** S3 sends this code with a 400 when a body did not arrive in time. */
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

/** Returns the function that sends all requests to the bucket. */
export function createS3Sender(
  bucket: Bucket,
  credentials: S3Credentials,
  retryPolicy: RetryPolicy,
): S3Sender {
  const { Agent, request } = bucket.url.protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true });
  const derivedKeys = new Map<string, ArrayBuffer>();

  return async (s3Request, read) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await read(await sendOnce(s3Request));
      } catch (error) {
        const failure = error instanceof S3Error ? error : describeFailure(bucket, s3Request, error);
        if (!failure.retryable || attempt >= retryPolicy.attemptsMax) throw failure;
        await delay(retryPolicy.backoffMs * 2 ** (attempt - 1));
      }
    }
  };

  async function sendOnce(s3Request: S3Request): Promise<IncomingMessage> {
    const url = new URL(bucket.url);
    if (s3Request.object !== undefined)
      url.pathname = `${url.pathname.replace(/\/$/, '')}/${s3Request.object}`;
    url.search = new URLSearchParams(s3Request.query).toString();
    const signer = new AwsV4Signer({
      ...credentials,
      method: s3Request.method,
      url: url.href,
      headers: { ...s3Request.headers, 'x-amz-content-sha256': s3Request.file?.sha256 ?? EMPTY_SHA256 },
      service: 's3',
      region: bucket.region,
      cache: derivedKeys,
    });
    const { headers } = await signer.sign();
    if (s3Request.file) headers.set('content-length', String(s3Request.file.bytes));
    const path = signer.encodedSearch ? `${signer.encodedPath}?${signer.encodedSearch}` : signer.encodedPath;
    const sent = request(url, {
      agent,
      method: s3Request.method,
      path,
      headers: Object.fromEntries(headers),
      timeout: retryPolicy.idleTimeoutMs,
    });
    const response = await receiveResponse(sent, s3Request.file, {
      idleTimeoutMs: retryPolicy.idleTimeoutMs,
      createTimeout: () => createTimeoutError(bucket, s3Request, retryPolicy.idleTimeoutMs),
    });
    if (Math.floor((response.statusCode ?? 0) / 100) === 2) return response;
    const refusal = await readRefusal(bucket, s3Request, response);
    if (!sent.writableFinished) sent.destroy();
    throw refusal;
  }
}

/** Sends the body of the request and returns the response once its headers have arrived. */
function receiveResponse(
  sent: ClientRequest,
  file: S3Request['file'],
  { idleTimeoutMs, createTimeout }: { idleTimeoutMs: number; createTimeout: () => S3Error },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let response: IncomingMessage | undefined;
    sent.on('response', (received) => {
      response = received;
      resolve(received);
    });
    // A store that refuses early may close the connection during the body. Then its response counts, which came first.
    sent.on('error', reject);
    sent.on('timeout', () => {
      const readerIsSlow =
        response && (response.complete || response.readableLength >= response.readableHighWaterMark);
      if (readerIsSlow) sent.setTimeout(idleTimeoutMs);
      else (response ?? sent).destroy(createTimeout());
    });
    if (file)
      pipeline(
        createReadStream(file.path, { highWaterMark: FILE_CHUNK_BYTES }),
        sent,
        (error) => error && reject(error),
      );
    else sent.end();
  });
}

/** Reads the body as text, up to `bytesMax`. */
export async function readText(response: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of iterateBuffers(response)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(chunks).toString();
}

function describeRequest(bucket: Bucket, s3Request: S3Request): string {
  return `The bucket "${bucket.name}" at ${bucket.url.host}, requested to ${s3Request.purpose},`;
}

/** Returns the error for a refusal. It contains only the code of the response, whose other fields repeat key id and signature. */
async function readRefusal(
  bucket: Bucket,
  s3Request: S3Request,
  response: IncomingMessage,
): Promise<S3Error> {
  const status = response.statusCode ?? 0;
  const text = await readText(response, ERROR_BODY_BYTES_MAX).catch(() => '');
  const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1];
  const region = response.headers['x-amz-bucket-region'];
  const isOtherRegion = region !== undefined && region !== bucket.region;
  return new S3Error(
    `${describeRequest(bucket, s3Request)} responded with ${status}${code ? ` ${code}` : ''}.${isOtherRegion ? ` It is in the region ${region}, but the address names ${bucket.region}.` : ''}`,
    status,
    TRANSIENT_STATUSES.has(status) || code === TRANSIENT_CODE,
  );
}

function describeFailure(bucket: Bucket, s3Request: S3Request, error: unknown): S3Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = code || (error instanceof Error ? error.message : String(error));
  return new S3Error(
    `${describeRequest(bucket, s3Request)} sent no complete response: ${reason}.`,
    null,
    TRANSIENT_ERRORS.has(code),
    error,
  );
}

function createTimeoutError(bucket: Bucket, s3Request: S3Request, idleMs: number): S3Error {
  return new S3Error(`${describeRequest(bucket, s3Request)} sent nothing for ${idleMs} ms.`, null, true);
}
