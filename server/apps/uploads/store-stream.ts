/** Stores the body of a request as content. */
import { PassThrough, type Readable } from 'node:stream';
import { UPLOAD_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { TooLargeError } from '../../platform/blobs/blob-store.ts';
import type { Contents, PreparedContent } from '../../platform/blobs/contents.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';

/** Stores the body; throws a 400 for a body of more than `bytesMax` bytes. */
export async function storeStream(
  contents: Contents,
  stream: Readable,
  bytesMax = UPLOAD_BYTES_MAX,
): Promise<PreparedContent> {
  const copy = new PassThrough();
  stream.once('error', (error) => copy.destroy(error));
  return storeCopy(contents, { copy: stream.pipe(copy), bytesBefore: 0, bytesMax });
}

/**
 * Stores the body of a part that `bytesBefore` bytes of the same content precede. When the connection breaks, calls `onCut`,
 * stores the bytes that have arrived, and `isCut` is true. Throws a 400 when the content becomes too large.
 */
export async function storePart(
  contents: Contents,
  stream: Readable,
  { bytesBefore, onCut }: { bytesBefore: number; onCut: () => void },
): Promise<{ content: PreparedContent; isCut: boolean }> {
  const copy = new PassThrough();
  let isCut = false;
  const cut = (): void => {
    isCut = true;
    onCut();
    copy.end();
  };
  stream.once('error', cut);
  const body = { copy: stream.pipe(copy), bytesBefore, bytesMax: UPLOAD_BYTES_MAX };
  // The connection of a refused part may break after its response, when nobody ends the cut part any more.
  const content = await storeCopy(contents, body).finally(() => stream.off('error', cut));
  return { content, isCut };
}

interface DetachedBody {
  /**
   * The same bytes as the request, in a stream that can be destroyed without it. A reader that stops early destroys its
   * stream; on the request itself that would close the connection before the error response is sent.
   */
  copy: Readable;
  bytesBefore: number;
  bytesMax: number;
}

async function storeCopy(
  contents: Contents,
  { copy, bytesBefore, bytesMax }: DetachedBody,
): Promise<PreparedContent> {
  try {
    return await contents.prepareStream(copy, bytesMax - bytesBefore);
  } catch (error) {
    if (!(error instanceof TooLargeError)) throw error;
    throw badRequest(`The upload has more than ${bytesMax} bytes, which is the most it may have.`);
  }
}
