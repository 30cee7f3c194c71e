/**
 * Uploads in parts, by the headers of draft-ietf-httpbis-resumable-upload. Each part is a content with a row, so it is as
 * durable as any content when it is acknowledged. Every server of an installation can store the next part. The last one joins
 * them.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { UPLOAD_BYTES_MAX, UPLOAD_PARTS_MAX } from '@switchyard/contract/limits.ts';
import type { UploadId } from '@switchyard/contract/schemas/ids.ts';
import type { Contents, PreparedContent } from '../../platform/blobs/contents.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { badRequest, notFound, Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import type { UploadsTable } from './schema.ts';
import { urlAlreadyUsed } from './signed-upload.ts';
import { appendPart, completeUpload, findUpload, listParts, removeParts } from './store.ts';

export interface PartHeaders {
  offset: number;
  isLast: boolean;
  /** The size of the whole content; null when the caller does not say it. */
  length: number | null;
}

/** A part whose bytes are in the store, and that has no row yet. */
export interface ReceivedPart {
  id: UploadId;
  firstByte: number;
  content: PreparedContent;
}

/** The upload was completed, continued or removed by another request. */
export class UploadClosedError extends Error {}

/** Structured fields have at most 15 digits (RFC 9651, section 3.3.1). */
const INTEGER = /^\d{1,15}$/;

/** Reads the headers of a part; throws a 400 for a missing or invalid one. */
export function readPartHeaders(headers: IncomingHttpHeaders): PartHeaders {
  const offset = readInteger('Upload-Offset', headers['upload-offset']);
  if (offset === null)
    throw badRequest(
      'Upload-Offset is missing. Send the number of bytes that the server has, which GET or HEAD of this URL returns; the first part has 0.',
    );
  const complete = headers['upload-complete'] ?? '?0';
  if (complete !== '?0' && complete !== '?1')
    throw badRequest(
      `Upload-Complete is ${quoteValue(complete)}; it must be "?1" for the last part, else "?0".`,
    );
  const length = readInteger('Upload-Length', headers['upload-length']);
  if (length !== null && length > UPLOAD_BYTES_MAX)
    throw badRequest(`Upload-Length is ${length}; an upload may have at most ${UPLOAD_BYTES_MAX} bytes.`);
  return { offset, isLast: complete === '?1', length };
}

function readInteger(name: string, value: string | string[] | undefined): number | null {
  if (value === undefined) return null;
  if (typeof value === 'string' && INTEGER.test(value)) return Number(value);
  throw badRequest(`${name} is ${quoteValue(value)}; it must be a number of bytes, for example 8388608.`);
}

/** Returns the headers of a response about the state of an upload. */
export function formatUploadHeaders(offset: number, isComplete: boolean): Record<string, string> {
  return { 'upload-offset': String(offset), 'upload-complete': isComplete ? '?1' : '?0' };
}

/** Throws a 400 for a complete upload and for too many parts, and a 409 for a part that begins at another byte. */
export async function checkPart(db: Reader, upload: UploadsTable, part: PartHeaders): Promise<void> {
  if (upload.content_id !== null) throw urlAlreadyUsed();
  if (upload.partial_bytes !== part.offset) throw createMismatch(part.offset, upload.partial_bytes);
  const { length } = await listParts(db, upload.id);
  if (length >= UPLOAD_PARTS_MAX && !part.isLast)
    throw badRequest(
      `The upload has ${length} parts, and it may have at most ${UPLOAD_PARTS_MAX}. Request a new URL, and send larger parts.`,
    );
}

/** Throws a 400 for an empty part that is not the last one, and for a content of another size than the caller said. */
export function checkReceivedPart(
  { offset, isLast, length }: PartHeaders,
  { bytes, isCut }: { bytes: number; isCut: boolean },
): void {
  if (bytes === 0 && (!isLast || isCut))
    throw badRequest('The part is empty. Send at least one byte, or the last part with Upload-Complete: ?1.');
  if (length === null) return;
  const received = offset + bytes;
  if (received > length || (isLast && !isCut && received !== length))
    throw badRequest(
      `Upload-Length is ${length}, and the upload has ${received} bytes with this part, which was not stored.`,
    );
}

/** Inserts the row of a part. Throws UploadClosedError when the upload does not end at its first byte any more. */
export async function insertPart(
  tx: Writer,
  { id, firstByte, content }: ReceivedPart,
  now: number,
): Promise<void> {
  const part = { id, firstByte, bytes: content.bytes, contentId: content.id };
  if (!(await appendPart(tx, part, now))) throw new UploadClosedError();
  await content.insert(tx);
}

/** Joins the parts into one content. Throws UploadClosedError when another request has removed them meanwhile. */
export async function joinParts(contents: Contents, db: Reader, upload: UploadId): Promise<PreparedContent> {
  const parts = await listParts(db, upload);
  async function* read(): AsyncGenerator<Buffer> {
    for (const id of parts) {
      const content = await contents.find(id);
      if (!content) throw new UploadClosedError();
      yield* await content.open();
    }
  }
  return contents.prepareStream(Readable.from(read(), { objectMode: false }), UPLOAD_BYTES_MAX);
}

/**
 * Makes the content that of the upload, and removes its parts. Returns the keys of blobs to remove after the commit. Throws
 * UploadClosedError as `completeUpload` returns false.
 */
export async function completeWith(
  tx: Writer,
  contents: Contents,
  { id, content, partialBytes }: { id: UploadId; content: PreparedContent; partialBytes?: number },
): Promise<string[]> {
  if (!(await completeUpload(tx, { id, contentId: content.id, partialBytes }))) throw new UploadClosedError();
  await content.insert(tx);
  return contents.remove(tx, await removeParts(tx, [id]));
}

/** Returns the error for an upload that another request completed, continued or removed while this one was handled. */
export async function explainClosedUpload(db: Reader, id: UploadId, offset: number | null): Promise<Problem> {
  const upload = await findUpload(db, id);
  if (!upload) return notFound(`The upload ${quoteValue(id)} was removed meanwhile.`);
  if (upload.content_id !== null || offset === null) return urlAlreadyUsed();
  return createMismatch(offset, upload.partial_bytes);
}

function createMismatch(offset: number, stored: number): Problem {
  return new Problem(
    409,
    `Upload-Offset is ${offset}, and the server has ${stored} bytes of the upload. Continue at byte ${stored}.`,
    formatUploadHeaders(stored, false),
  );
}
