/** Sends content to the server. */
import type { Client } from '@switchyard/contract/client.ts';
import { type OnRetry, retry } from './retry.ts';
import { readSignedUrl } from './signed-url.ts';

export interface TransferOptions {
  signal?: AbortSignal;
  /** Receives the number of bytes so far; smaller than before when an upload begins again. */
  onProgress?: (bytes: number) => void;
  onRetry?: OnRetry;
}

/** Requests an upload URL: an upload has its own URL, which works once. */
type RequestUrl = () => Promise<{ body: { upload_id: string; upload_url: string } }>;

/**
 * Uploads the content and returns the id of the upload. The API stores an upload as a whole, so after a lost connection
 * everything is sent again, to a new URL.
 */
export async function uploadContent(
  client: Client,
  requestUrl: RequestUrl,
  content: Blob,
  { signal = new AbortController().signal, onProgress = () => {}, onRetry }: TransferOptions = {},
): Promise<string> {
  // A server that cannot be reached at all is an error at once.
  let first: Awaited<ReturnType<RequestUrl>> | undefined = await requestUrl();
  return retry(
    async () => {
      const { body } = first ?? (await requestUrl());
      first = undefined;
      const { id, query } = readSignedUrl(body.upload_url);
      onProgress(0);
      // An empty stream would be a body without an end for some proxies.
      const sent = content.size === 0 ? content : countBytes(content.stream(), onProgress);
      await client.call('putUpload', { params: { upload_id: id }, query, body: sent, signal });
      return body.upload_id;
    },
    { signal, ...(onRetry && { onRetry }) },
  );
}

function countBytes(
  content: ReadableStream<Uint8Array>,
  onProgress: (bytes: number) => void,
): ReadableStream<Uint8Array> {
  let bytes = 0;
  return content.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        bytes += chunk.byteLength;
        onProgress(bytes);
      },
    }),
  );
}
