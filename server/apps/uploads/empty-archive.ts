/** The archive of a run that ended without files. Published clients unpack one before they show why the run failed. */
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { ContentResponse } from '../../platform/http/handlers/handler.ts';

/** An id that no stored content has. */
export const EMPTY_ARCHIVE_ID = 'empty-archive';

/** A tar archive ends with two blocks of zeros, and this one has no others. */
const BYTES = gzipSync(Buffer.alloc(1024));

/** Returns the archive as a download. */
export function respondWithEmptyArchive(contentType: string): ContentResponse {
  return {
    content: {
      id: EMPTY_ARCHIVE_ID,
      bytes: BYTES.length,
      contentType,
      open: async (range) => Readable.from([range ? BYTES.subarray(range.from, range.to + 1) : BYTES]),
    },
  };
}
