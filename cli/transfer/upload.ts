/** Sends content to the server. */
import { ApiError, type Client } from '@switchyard/contract/client.ts';
import {
  formatPartHeaders,
  PartialUpload,
  type UploadTarget,
} from '@switchyard/contract/transfer/partial-upload.ts';
import type { OnRetry } from '@switchyard/contract/transfer/retry.ts';
import { readSignedUrl } from '@switchyard/contract/transfer/signed-url.ts';
import { isTransient, retry } from '../errors/retry.ts';
import type { UnfinishedUploads, UploadPlace, UploadRecord, UploadUrl } from './unfinished-uploads.ts';

/** Statuses of an expired URL, and of an upload that the server has removed. */
const EXPIRED_STATUSES: readonly number[] = [403, 404];

export interface TransferOptions {
  signal?: AbortSignal;
  /** Receives the number of bytes so far; smaller than before when an upload continues after a lost connection. */
  onProgress?: (bytes: number) => void;
  onRetry?: OnRetry;
}

export interface UploadOptions extends TransferOptions {
  /** The uploads of earlier commands, one of which this one may continue. */
  unfinished?: UnfinishedUploads;
  /** Receives the number of bytes that an earlier command has sent. */
  onResume?: (bytes: number) => void;
}

type KeyedPlace = UploadPlace & { idempotencyKey?: string | undefined };

/**
 * Uploads the content in parts and returns the id of the upload. After a lost connection it asks the server for the number of
 * stored bytes, and continues there. It also continues what an earlier command left unfinished. With an idempotency key, the
 * server returns the upload of an earlier request with it. The memory is that of a few chunks of the content, also for a large
 * one.
 */
export async function uploadContent(
  client: Client,
  place: KeyedPlace,
  content: Blob,
  { signal = new AbortController().signal, onProgress = () => {}, ...options }: UploadOptions = {},
): Promise<string> {
  const { onRetry, onResume = () => {}, unfinished } = options;
  const record = place.idempotencyKey === undefined ? await unfinished?.open(place, content) : undefined;
  const recordProgress = (bytes: number): void => {
    record?.touch();
    onProgress(bytes);
  };
  const repeat = (attempt: () => Promise<void>) => retry(attempt, { signal, ...(onRetry && { onRetry }) });
  const send = async ({ upload_id, upload_url }: UploadUrl, isContinued: boolean): Promise<string> => {
    const target = connectTarget(client, upload_url, { signal, onProgress: recordProgress });
    const upload = new PartialUpload(content, target, { isContinued, onProgress: recordProgress });
    // A server that cannot be reached at all is an error at once.
    if (isContinued) onResume(await upload.readStoredBytes());
    while (!upload.isComplete) await repeat(() => upload.sendNextPart());
    return upload_id;
  };
  const sendOnce = async (url: UploadUrl): Promise<string> => {
    try {
      return await send(url, false);
    } catch (error) {
      // A key lasts longer than a URL. The request that names the upload returns the response to the earlier one, or says that
      // nothing was sent.
      const isExpired = error instanceof ApiError && EXPIRED_STATUSES.includes(error.status);
      if (place.idempotencyKey !== undefined && isExpired) return url.upload_id;
      throw error;
    }
  };
  try {
    const id =
      (record?.resumed && (await returnUnlessRefused(send(record.resumed, true)))) ??
      (await sendOnce(await requestUrl(client, place, record)));
    record?.remove();
    return id;
  } catch (error) {
    if (isRefusal(error)) record?.remove();
    else record?.release();
    throw error;
  }
}

async function requestUrl(
  client: Client,
  { application_id, operation, idempotencyKey }: KeyedPlace,
  record: UploadRecord | undefined,
): Promise<UploadUrl> {
  record?.remove();
  const { body } = await client.call(operation, {
    params: { application_id },
    ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
  });
  record?.store(body);
  return body;
}

/** Returns the result; undefined when the server refuses, as it does for an expired URL and a removed upload. */
async function returnUnlessRefused<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && !isTransient(error);
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
