/** Stores the body of a request as content. */
import { PassThrough, type Readable } from 'node:stream';
import { UPLOAD_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { TooLargeError } from '../blobs/blob-store.ts';
import type { Contents, PreparedContent } from '../blobs/contents.ts';
import { badRequest } from '../http/errors/problem.ts';

/** Stores the body; throws a 400 for a body of more than `bytesMax` bytes. */
export async function storeStream(
  contents: Contents,
  stream: Readable,
  bytesMax = UPLOAD_BYTES_MAX,
): Promise<PreparedContent> {
  try {
    return await contents.prepareStream(createDetachedCopy(stream), bytesMax);
  } catch (error) {
    if (!(error instanceof TooLargeError)) throw error;
    throw badRequest(`The upload has more than ${bytesMax} bytes, which is the most it may have.`);
  }
}

/**
 * Returns a stream of the same bytes that can be destroyed without the request. A reader that stops early destroys its
 * stream; on the request itself that would close the connection before the error response is sent.
 */
function createDetachedCopy(source: Readable): Readable {
  const copy = new PassThrough();
  source.once('error', (error) => copy.destroy(error));
  return source.pipe(copy);
}
