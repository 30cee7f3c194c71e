/**
 * Sends responses so that what a caller does not read costs a bounded amount of memory: a large text goes out in chunks,
 * each when the one before was read, and is counted against the budget of responses until the caller has all of it.
 * JSON that the server writes ends with a newline, so that responses do not run into one another in a terminal. Content of
 * callers, such as an input, goes out as it came.
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FILE_CHUNK_BYTES } from '../blobs/hashed-file.ts';
import type { ContentResponse, RawResponse } from './handlers/handler.ts';
import type { Budget, Reservation } from './limits/budget.ts';
import { parseRange } from './requests/range-header.ts';

const CHUNK_BYTES = 64 * 1024;
/** Memory of a stream of content: the piece that was read last, and the one that is being sent. */
const CONTENT_BYTES = 2 * FILE_CHUNK_BYTES;

export interface JsonResponse {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Who a response is for, and the budget it is counted against. */
export interface Recipient {
  request: FastifyRequest;
  reply: FastifyReply;
  holder: string;
  budget: Budget;
}

export function sendJson(to: Recipient, response: JsonResponse): FastifyReply {
  const { reply } = to;
  reply.code(response.status);
  if (response.headers) reply.headers(response.headers);
  if (response.body === undefined) return reply.send();
  reply.header('content-type', 'application/json; charset=utf-8');
  return sendWhole(to, formatJson(response.body));
}

/** The JSON of a response. */
export function formatJson(body: unknown): string {
  return `${JSON.stringify(body)}\n`;
}

export async function sendRawBody(to: Recipient, response: RawResponse): Promise<FastifyReply> {
  const { reply } = to;
  const { status, contentType, raw, memoryBytes = CONTENT_BYTES } = response;
  if (!(raw instanceof Readable)) {
    reply.code(status).header('content-type', contentType);
    return sendWhole(to, raw);
  }
  try {
    await hold(to, memoryBytes);
  } catch (error) {
    raw.destroy();
    throw error;
  }
  return reply.code(status).header('content-type', contentType).send(raw);
}

/** The content, or the part of it that is asked for. Nothing is opened for a HEAD, which asks how long it is. */
export async function sendContent(to: Recipient, { content }: ContentResponse): Promise<FastifyReply> {
  const { request, reply } = to;
  const etag = `"${content.id}"`;
  const isHead = request.method === 'HEAD';
  const { range: wanted, 'if-range': ifRange } = request.headers;
  const asked = { range: isHead ? undefined : wanted, ifRange: ifRange?.toString() };
  const range = parseRange(asked, { bytes: content.bytes, etag });
  const bytes = range ? range.to - range.from + 1 : content.bytes;
  await hold(to, CONTENT_BYTES);
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

async function hold({ reply, holder, budget }: Recipient, bytes: number): Promise<void> {
  releaseAtEnd(reply, await budget.reserve(holder, bytes, () => reply.raw.destroyed));
}

/** What a change responds is sent whatever is held: a refusal would say that nothing was changed. */
function sendWhole({ request, reply, holder, budget }: Recipient, whole: string | Buffer): FastifyReply {
  if (Buffer.byteLength(whole) <= CHUNK_BYTES) return reply.send(whole);
  const bytes = typeof whole === 'string' ? Buffer.from(whole) : whole;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const held = isRead
    ? budget.reserveNow(holder, bytes.length)
    : budget.reserveUnconditionally(holder, bytes.length);
  releaseAtEnd(reply, held);
  return reply.header('content-length', bytes.length).send(inChunks(bytes));
}

function releaseAtEnd(reply: FastifyReply, held: Reservation): void {
  if (reply.raw.destroyed || reply.raw.closed) held.release();
  else reply.raw.once('close', () => held.release());
}

function inChunks(whole: Buffer): Readable {
  let at = 0;
  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      const chunk = whole.subarray(at, at + CHUNK_BYTES);
      at += CHUNK_BYTES;
      this.push(chunk.length > 0 ? chunk : null);
    },
  });
}
