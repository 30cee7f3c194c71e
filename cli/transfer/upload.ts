/** Sends content to the server. */
import { ApiError, type Client } from '@switchyard/contract/client.ts';
import { type OnRetry, retry } from './retry.ts';
import { readSignedUrl } from './signed-url.ts';

/** Large enough that the pauses between parts cost little, and little to send again on a slow line. */
const PART_BYTES = 8 * 1024 * 1024;
const CONFLICT = 409;

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
  const upload = new PartialUpload(client, body.upload_url, content, { signal, onProgress });
  while (!upload.isComplete)
    await retry(() => upload.sendNextPart(), { signal, ...(onRetry && { onRetry }) });
  return body.upload_id;
}

/** An upload whose parts are sent one after the other. */
class PartialUpload {
  isComplete = false;
  readonly #client: Client;
  readonly #request: { params: { upload_id: string }; query: Record<string, string>; signal: AbortSignal };
  readonly #content: Blob;
  readonly #onProgress: (bytes: number) => void;
  /** The number of bytes that the server has stored; null when a request failed whose effect is unknown. */
  #offset: number | null = 0;

  constructor(
    client: Client,
    url: string,
    content: Blob,
    { signal, onProgress }: { signal: AbortSignal; onProgress: (bytes: number) => void },
  ) {
    const { id, query } = readSignedUrl(url);
    this.#client = client;
    this.#request = { params: { upload_id: id }, query, signal };
    this.#content = content;
    this.#onProgress = onProgress;
  }

  /** Sends the part after the stored bytes, of which it asks the server after a failed request. */
  async sendNextPart(): Promise<void> {
    const offset = this.#offset ?? (await this.#readOffset());
    if (this.isComplete) return;
    this.#offset = null;
    const { size } = this.#content;
    const end = Math.min(offset + PART_BYTES, size);
    const part = this.#content.slice(offset, end);
    this.#onProgress(offset);
    try {
      await this.#client.call('appendUpload', {
        ...this.#request,
        headers: {
          'upload-offset': String(offset),
          'upload-complete': end === size ? '?1' : '?0',
          'upload-length': String(size),
        },
        // An empty stream would be a body without an end for some proxies.
        body: part.size === 0 ? part : this.#countBytes(part.stream(), offset),
      });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== CONFLICT) throw error;
      // The server had not noticed the end of the lost connection when it returned the offset, and has stored more since.
      this.#offset = await this.#readOffset();
      if (this.#offset !== offset) return;
      throw error;
    }
    this.#offset = end;
    this.isComplete = end === size;
  }

  async #readOffset(): Promise<number> {
    const { body } = await this.#client.call('getUpload', this.#request);
    this.isComplete = body.complete;
    return body.offset;
  }

  #countBytes(part: ReadableStream<Uint8Array>, offset: number): ReadableStream<Uint8Array> {
    let bytes = offset;
    return part.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          controller.enqueue(chunk);
          bytes += chunk.byteLength;
          this.#onProgress(bytes);
        },
      }),
    );
  }
}
