/** Reserves the memory of a request, from its body to the end of its handler; see budget.ts. */
import { DIRECT_INPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { Operation } from '@switchyard/contract/operation.ts';
import type { FastifyRequest } from 'fastify';
import { FILE_CHUNK_BYTES } from '../../blobs/hashed-file.ts';
import { bodyEndedEarly, bodyTooLarge } from '../errors/framework-errors.ts';
import { formatCaller } from '../handlers/handler.ts';
import type { Budget, Budgets, Reservation } from './budget.ts';
import { addressBucketKey } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Released when the handler has returned, or when the caller disconnects before it starts. */
    holds: Reservation[];
    isHandled: boolean;
    /** Milliseconds that the request waited because its caller asked for it. The response time does not include them. */
    waitedMs: number;
  }
}

/** Memory of a handler at work: of most handlers, of one that reads a page of rows, of one that reads content. */
const WORK_BYTES = 256 * 1024;
const LIST_WORK_BYTES = 2 * 1024 * 1024;
const CONTENT_WORK_BYTES = DIRECT_INPUT_BYTES_MAX;
/** Memory of a handler that waits: with that of most handlers, 256 workers would be the maximum of a member. */
const WAIT_WORK_BYTES = 16 * 1024;
/** Memory of an upload on its way to the disk. */
const UPLOAD_BYTES = 2 * FILE_CHUNK_BYTES;

/** Returns the holder of the memory of a request: the key that calls, or the address of a caller without a token. */
export function identifyMemoryHolder({ caller, address }: FastifyRequest): string {
  return caller ? formatCaller(caller) : `address ${addressBucketKey(address)}`;
}

/** Reserves bytes until `releaseMemory`; throws the 429 of the budget, or a 400 when the caller disconnects meanwhile. */
export async function reserveMemory(
  request: FastifyRequest,
  budget: Budget,
  bytes: number,
  holder = identifyMemoryHolder(request),
): Promise<void> {
  const { socket } = request.raw;
  request.holds.push(await budget.reserve(holder, bytes, () => socket.destroyed));
  throwIfDisconnected(request);
}

/** Throws when the connection of the caller is closed: no later event would release what the request reserves. */
export function throwIfDisconnected({ raw }: FastifyRequest): void {
  if (raw.socket.destroyed) throw bodyEndedEarly();
}

/** Releases all memory that the request has reserved, and its body. */
export function releaseMemory(request: FastifyRequest): void {
  for (const reservation of request.holds.splice(0)) reservation.release();
  request.body = undefined;
  request.rawBody = null;
}

/**
 * Reserves the memory of a body before the server reads any of it: its stated length, or the maximum for a body in
 * chunks. Throws the 400 when the stated length is above the maximum.
 */
export async function reserveBodyMemory(
  request: FastifyRequest,
  bytesMax: number,
  { bodies }: Budgets,
): Promise<void> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  const bytes = encoding === undefined ? Number(length ?? 0) : bytesMax;
  if (bytes > bytesMax) throw bodyTooLarge(bytesMax);
  if (bytes > 0) await reserveMemory(request, bodies, bytes);
}

/**
 * Reserves the memory of an upload for the member that owns it. The request has no token, and all callers behind one
 * proxy share an address.
 */
export function reserveUploadMemory(
  request: FastifyRequest,
  member: string,
  { bodies }: Budgets,
): Promise<void> {
  return reserveMemory(request, bodies, UPLOAD_BYTES, member);
}

/**
 * Reserves the memory of the handler of an operation. Operations for operators reserve none, so that they work on a busy
 * server. An upload reserves its memory later, when its owner is known.
 */
export async function reserveHandlerMemory(
  request: FastifyRequest,
  operation: Operation,
  budgets: Budgets,
): Promise<void> {
  const { tag, body } = operation;
  if (tag === 'service' || body?.stream) return;
  await reserveMemory(request, budgets.work, estimateWorkBytes(operation));
}

/**
 * Waits with little memory: the part of the handler is released before the wait and reserved again after it. Throws the 429
 * of the budget, or a 400 when the caller has disconnected.
 */
export async function waitWithLittleMemory(
  request: FastifyRequest,
  operation: Operation,
  budgets: Budgets,
  wait: () => Promise<void>,
): Promise<void> {
  releaseMemory(request);
  await reserveMemory(request, budgets.work, WAIT_WORK_BYTES);
  const begin = performance.now();
  try {
    await wait();
  } finally {
    request.waitedMs += performance.now() - begin;
    releaseMemory(request);
  }
  throwIfDisconnected(request);
  await reserveHandlerMemory(request, operation, budgets);
}

function estimateWorkBytes({ query, waits, readsContent }: Operation): number {
  if (waits) return WAIT_WORK_BYTES;
  if (readsContent) return CONTENT_WORK_BYTES;
  const { properties = {} } = query ?? {};
  // A list has a page in memory in each of its formats, and one content the whole of it.
  if ('pagetoken' in properties) return LIST_WORK_BYTES;
  return 'format' in properties ? CONTENT_WORK_BYTES : WORK_BYTES;
}
