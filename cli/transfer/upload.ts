/** Sends content to the server. */
import type { Client } from '@switchyard/contract/client.ts';
import {
  formatPartHeaders,
  PartialUpload,
  type UploadTarget,
} from '@switchyard/contract/transfer/partial-upload.ts';
import type { OnRetry } from '@switchyard/contract/transfer/retry.ts';
import { readSignedUrl } from '@switchyard/contract/transfer/signed-url.ts';
import { retry } from './retry.ts';

export interface TransferOptions {
  signal?: AbortSignal;
  /** Receives the number of bytes so far; smaller than before when an upload continues after a lost connection. */
  onProgress?: (bytes: number) => void;
  onRetry?: OnRetry;
}

/** Requests an upload URL: an upload has its own URL, for one content. */
type RequestUrl = () => Promise<{ body: { upload_id: string; upload_url: string } }>;

/**
 * Uploads the content in parts and returns the id of the upload. After a lost connection it asks the server for the number of
 * stored bytes, and continues there. The memory is that of a few chunks of the content, also for a large one.
 */
export async function uploadContent(
  client: Client,
  requestUrl: RequestUrl,
  content: Blob,
  { signal = new AbortController().signal, onProgress = () => {}, onRetry }: TransferOptions = {},
): Promise<string> {
  // A server that cannot be reached at all is an error at once.
  const { body } = await requestUrl();
  const target = connectTarget(client, body.upload_url, { signal, onProgress });
  const upload = new PartialUpload(content, target, { onProgress });
  while (!upload.isComplete)
    await retry(() => upload.sendNextPart(), { signal, ...(onRetry && { onRetry }) });
  return body.upload_id;
}

function connectTarget(
  client: Client,
  url: string,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (bytes: number) => void },
): UploadTarget {
  const { id, query } = readSignedUrl(url);
  const request = { params: { upload_id: id }, query, signal };
  return {
    append: (part) => {
      const { bytes, offset } = part;
      // An empty stream would be a body without an end for some proxies.
      const body = bytes.size === 0 ? bytes : countBytes(bytes.stream(), offset, onProgress);
      return client.call('appendUpload', { ...request, headers: formatPartHeaders(part), body });
    },
    readState: async () => (await client.call('getUpload', request)).body,
  };
}

function countBytes(
  part: ReadableStream<Uint8Array>,
  offset: number,
  onProgress: (bytes: number) => void,
): ReadableStream<Uint8Array> {
  let bytes = offset;
  return part.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        controller.enqueue(chunk);
        bytes += chunk.byteLength;
        onProgress(bytes);
      },
    }),
  );
}
