/** The memory that a request holds, from its body to the end of its handler; see budget.ts. */
import { DIRECT_INPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { Operation } from '@switchyard/contract/operation.ts';
import type { FastifyRequest } from 'fastify';
import { FILE_CHUNK_BYTES } from '../../blobs/hashed-file.ts';
import { bodyEndedEarly, bodyTooLarge } from '../errors/framework-errors.ts';
import { formatMemberKey } from '../handlers/handler.ts';
import type { Budget, Budgets, Reservation } from './budget.ts';
import { addressBucketKey } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Parts of budgets that are released when its handler has returned, or its caller is gone. */
    holds: Reservation[];
    isHandled: boolean;
  }
}

/** Memory of a handler while it works: of most, of one that reads a page of rows, and of one that reads content. */
const WORK_BYTES = 256 * 1024;
const WORK_BYTES_OF_LIST = 2 * 1024 * 1024;
const WORK_BYTES_OF_CONTENT = DIRECT_INPUT_BYTES_MAX;
/** Memory of an upload on its way to the disk. */
const UPLOAD_BYTES = 2 * FILE_CHUNK_BYTES;

/** Who holds memory for the request: the member that calls, or the address of a caller without a token. */
export function identifyMemoryHolder({ caller, ip }: FastifyRequest): string {
  return caller ? formatMemberKey(caller) : `address ${addressBucketKey(ip)}`;
}

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

/** Throws where the caller is gone: its connection has been closed, so that nothing would release what is held from here on. */
export function throwIfDisconnected({ raw }: FastifyRequest): void {
  if (raw.socket.destroyed) throw bodyEndedEarly();
}

/** Gives back what the request holds, and lets go of its body. */
export function releaseMemory(request: FastifyRequest): void {
  for (const one of request.holds.splice(0)) one.release();
  request.body = undefined;
  request.rawBody = null;
}

/** Holds the memory of the body before any of it is read: its stated length, or as much as it may have. */
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

/** Holds the memory of the upload for the member whose it is: all who come through one proxy have one address. */
export function reserveUploadMemory(
  request: FastifyRequest,
  member: string,
  { bodies }: Budgets,
): Promise<void> {
  return reserveMemory(request, bodies, UPLOAD_BYTES, member);
}

/** What operators ask is answered however busy the server is. An upload holds its memory once it is known whose it is. */
export async function reserveHandlerMemory(
  request: FastifyRequest,
  operation: Operation,
  budgets: Budgets,
): Promise<void> {
  const { tag, body, query } = operation;
  if (tag === 'service' || body?.stream) return;
  const { properties = {} } = query ?? {};
  await reserveMemory(
    request,
    budgets.work,
    'format' in properties
      ? WORK_BYTES_OF_CONTENT
      : 'pagetoken' in properties
        ? WORK_BYTES_OF_LIST
        : WORK_BYTES,
  );
}
