/**
 * Sends responses within a memory budget, because a caller may stop reading. A large text is sent in chunks, each after
 * the caller has read the one before, and counts against the budget of responses until the caller has all of it.
 *
 * JSON of the server ends with a newline, so that the prompt of a terminal starts on its own line. Content of callers,
 * such as an input, is sent byte for byte.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, Readable, Transform } from 'node:stream';
import { createGzip } from 'node:zlib';
import { formatMarkedJson } from '@switchyard/contract/exact-json.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FILE_CHUNK_BYTES } from '../blobs/hashed-file.ts';
import type { ContentResponse, JsonResponse, RawResponse } from './handlers/handler.ts';
import type { Budget, Reservation } from './limits/budget.ts';
import { CACHED_BODY_BYTES_MAX } from './lists/compressed-bodies.ts';
import { parseRange } from './requests/range-header.ts';

const CHUNK_BYTES = 64 * 1024;
/** Memory of a content stream: the chunk that was read last, and the chunk that is being sent. */
const CONTENT_STREAM_BYTES = 2 * FILE_CHUNK_BYTES;

/** The receiver of a response, and the memory budget that the response counts against. */
export interface Recipient {
  request: FastifyRequest;
  reply: FastifyReply;
  /** The member or address that holds the memory. */
  holder: string;
  budget: Budget;
}

/** Sends a JSON body, or only the status and headers. Throws a 429 for a large body without free memory. */
export function sendJson(to: Recipient, response: JsonResponse): FastifyReply {
  const { reply } = to;
  reply.code(response.status);
  if (response.headers) reply.headers(response.headers);
  if (response.body === undefined) return reply.send();
  reply.header('content-type', 'application/json; charset=utf-8');
  return sendWhole(to, formatJson(response.body));
}

/** Returns the JSON of a response, with a newline at its end. */
export function formatJson(body: unknown): string {
  return `${formatMarkedJson(body)}\n`;
}

/** Sends a body unchanged. Throws a 429, and destroys a stream, when no memory becomes free in time. */
export async function sendRawBody(to: Recipient, response: RawResponse): Promise<FastifyReply> {
  const { reply } = to;
  const { status, contentType, raw, memoryBytes = CONTENT_STREAM_BYTES, isCompressible } = response;
  if (!(raw instanceof Readable)) {
    const { contentEncoding } = response;
    if (contentEncoding) reply.headers({ 'content-encoding': contentEncoding, ...VARY });
    reply.code(status).header('content-type', contentType);
    return sendWhole(to, raw);
  }
  const isCompressed = isCompressible && acceptsGzip(to.request.headers);
  const headers = {
    'content-type': contentType,
    ...(isCompressible ? VARY : {}),
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
  };
  if (to.request.method === 'HEAD') {
    // Otherwise a stream without an end would stay open for nobody.
    raw.destroy();
    return reply.code(status).headers(headers).send(Readable.from([]));
  }
  try {
    await reserveUntilClose(to, memoryBytes);
  } catch (error) {
    raw.destroy();
    throw error;
  }
  reply.code(status).headers(headers);
  if (!isCompressed) return reply.send(raw);
  const gzip = createGzip({ level: GZIP_LEVEL });
  const streams = response.onCompressed ? [gzip, collectChunks(response.onCompressed)] : [gzip];
  // An error of one stream destroys the others, so that no caller gets a part as the whole.
  pipeline([raw, ...streams], () => {});
  return reply.send(streams.at(-1));
}

const VARY = { vary: 'accept-encoding' };

/**
 * Returns a stream that passes bytes on, and calls back with all of them when they have been read. More than the cache stores
 * are not collected.
 */
function collectChunks(onEnd: (bytes: Buffer) => void): Transform {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      if (bytes > CACHED_BODY_BYTES_MAX) chunks.length = 0;
      else chunks.push(chunk);
      done(null, chunk);
    },
    flush(done) {
      if (bytes <= CACHED_BODY_BYTES_MAX) onEnd(Buffer.concat(chunks));
      done();
    },
  });
}

/** Level 1 makes 0.8 MB of runs an eighth in 16 ms; level 6 saves another 8 %. */
const GZIP_LEVEL = 1;

/** Returns true for an Accept-Encoding header that names gzip, or any encoding, without the weight 0. */
export function acceptsGzip({ 'accept-encoding': header = '' }: IncomingHttpHeaders): boolean {
  const weights = new Map<string, number>();
  for (const entry of `${header}`.toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight));
  }
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}

/** Sends the content, or the requested range of it. A HEAD gets the length without opening the content. */
export async function sendContent(to: Recipient, { content }: ContentResponse): Promise<FastifyReply> {
  const { request, reply } = to;
  const etag = `"${content.id}"`;
  const isHead = request.method === 'HEAD';
  const { range: rangeHeader, 'if-range': ifRange } = request.headers;
  const conditions = { range: isHead ? undefined : rangeHeader, ifRange: ifRange?.toString() };
  const range = parseRange(conditions, { bytes: content.bytes, etag });
  const bytes = range ? range.to - range.from + 1 : content.bytes;
  await reserveUntilClose(to, CONTENT_STREAM_BYTES);
  const stream = isHead ? Readable.from([]) : await content.open(range);
  reply.code(range ? 206 : 200).headers({
    'content-type': content.contentType,
    'content-length': bytes,
    'accept-ranges': 'bytes',
    etag,
    ...(range ? { 'content-range': `bytes ${range.from}-${range.to}/${content.bytes}` } : {}),
  });
  return reply.send(stream);
}

async function reserveUntilClose({ reply, holder, budget }: Recipient, bytes: number): Promise<void> {
  releaseAtEnd(reply, await budget.reserve(holder, bytes, () => reply.raw.destroyed));
}

/** Sends the response to a change even beyond the budget: a 429 would say that the change did not happen. */
function sendWhole({ request, reply, holder, budget }: Recipient, whole: string | Buffer): FastifyReply {
  if (Buffer.byteLength(whole) <= CHUNK_BYTES) return reply.send(whole);
  const bytes = typeof whole === 'string' ? Buffer.from(whole) : whole;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const reservation = isRead
    ? budget.reserveNow(holder, bytes.length)
    : budget.reserveUnconditionally(holder, bytes.length);
  releaseAtEnd(reply, reservation);
  return reply.header('content-length', bytes.length).send(createChunkStream(bytes));
}

function releaseAtEnd(reply: FastifyReply, reservation: Reservation): void {
  if (reply.raw.destroyed || reply.raw.closed) reservation.release();
  else reply.raw.once('close', () => reservation.release());
}

function createChunkStream(whole: Buffer): Readable {
  let offset = 0;
  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      const chunk = whole.subarray(offset, offset + CHUNK_BYTES);
      offset += CHUNK_BYTES;
      this.push(chunk.length > 0 ? chunk : null);
    },
  });
}
