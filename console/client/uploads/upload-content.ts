/** Uploads content to a signed URL: a small one whole, a large one in parts that continue after a lost connection. */
import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import { ApiError, type Client } from '@switchyard/contract/client.ts';
import {
  formatPartHeaders,
  PartialUpload,
  type UploadTarget,
} from '@switchyard/contract/transfer/partial-upload.ts';
import { growPauses, retry } from '@switchyard/contract/transfer/retry.ts';
import { readSignedUrl } from '@switchyard/contract/transfer/signed-url.ts';
import { connectClient } from '../client.ts';
import { ConnectionLostError, sendWithProgress } from './send-with-progress.ts';
import { describeRetry, explainFailure, findSizeError, isTransient, limitPauses } from './upload-retries.ts';

/** Attempts after the first one of an upload that no form shows. The pauses between them are 16 seconds together. */
const UNSEEN_PAUSES = 5;

/** An upload that runs. */
export interface UploadState {
  sentBytes: number;
  totalBytes: number;
  /** The reason for which nothing is sent until the next attempt; null while bytes are sent. */
  problem: string | null;
}

/** The interest of a form in its upload. */
export interface UploadOptions {
  signal: AbortSignal;
  /** Receives each change, and null at the end. */
  onChange(state: UploadState | null): void;
  /** The uploads that the form has begun, by their content: one that was canceled continues where it stopped. */
  begun: WeakMap<Blob, Upload>;
}

/**
 * Uploads the content and returns the id of the upload. Throws an error whose message tells people what to do. Without options
 * nobody sees that the upload waits, so it gives up after some seconds without a connection.
 */
export async function uploadContent(
  requestUrl: () => Promise<{ body: Upload }>,
  content: Blob,
  options?: UploadOptions,
): Promise<string> {
  const sizeError = findSizeError(content.size);
  if (sizeError) throw sizeError;
  const earlier = options?.begun.get(content);
  const isContinued = earlier !== undefined && (await isUsable(earlier, options?.signal));
  const upload = isContinued ? earlier : (await requestUrl()).body;
  options?.begun.set(content, upload);
  try {
    await sendParts(upload, content, { ...options, isContinued });
  } catch (error) {
    throw options ? explainFailure(error) : error;
  } finally {
    options?.onChange(null);
  }
  return upload.upload_id;
}

async function sendParts(
  { upload_url }: Upload,
  content: Blob,
  {
    signal = new AbortController().signal,
    onChange,
    isContinued,
  }: Partial<UploadOptions> & { isContinued: boolean },
): Promise<void> {
  let sentBytes = 0;
  const notify = (problem: string | null) => onChange?.({ sentBytes, totalBytes: content.size, problem });
  const onProgress = (bytes: number) => {
    sentBytes = bytes;
    notify(null);
  };
  const target = connectTarget(upload_url, { signal, onProgress });
  const upload = new PartialUpload(content, target, { isContinued, onProgress });
  while (!upload.isComplete)
    await retry(() => upload.sendNextPart(), {
      signal,
      pauses: onChange ? limitPauses(Date.now) : growPauses(UNSEEN_PAUSES),
      isTransient,
      wait: waitForNetwork,
      onRetry: (error) => notify(describeRetry(error)),
    });
}

/** Returns true if an upload that was begun earlier accepts parts, or is complete. */
async function isUsable({ upload_url }: Upload, signal?: AbortSignal): Promise<boolean> {
  try {
    await connectTarget(upload_url, { ...(signal && { signal }) }).readState();
    return true;
  } catch (error) {
    // Without a response, the attempts of the upload decide.
    return !(error instanceof ApiError) || isTransient(error);
  }
}

function connectTarget(
  url: string,
  { signal, onProgress = () => {} }: { signal?: AbortSignal; onProgress?: (bytes: number) => void },
): UploadTarget {
  const { id, query } = readSignedUrl(url);
  const request = { params: { upload_id: id }, query, ...(signal && { signal }) };
  const connect = (offset: number): Client =>
    connectClient((path, init) => sendWithProgress(path, init, (bytes) => onProgress(offset + bytes)));
  return {
    async append(part) {
      const { bytes: body, offset, isLast } = part;
      const client = connect(offset);
      try {
        // A content of one part is one PUT.
        if (offset === 0 && isLast) await client.call('putUpload', { ...request, body });
        else await client.call('appendUpload', { ...request, headers: formatPartHeaders(part), body });
      } catch (error) {
        if (error instanceof ConnectionLostError) await checkReadable(body);
        throw error;
      }
    },
    readState: async () => (await connect(0).call('getUpload', request)).body,
  };
}

/** Throws an error for a file that was changed on the disk: the browser sends no byte of it any more. */
async function checkReadable(part: Blob): Promise<void> {
  try {
    await part.slice(0, 1).arrayBuffer();
  } catch {
    throw new Error('The file was changed or removed on this device, so it cannot be read. Choose it again.');
  }
}

/** Waits that long, and less when the browser is online again. Throws the reason of the signal once it is aborted. */
function waitForNetwork(pauseMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const listening = new AbortController();
    const end = (report: () => void) => {
      clearTimeout(timer);
      listening.abort();
      report();
    };
    const timer = setTimeout(() => end(resolve), pauseMs);
    addEventListener('online', () => end(resolve), { signal: listening.signal });
    signal.addEventListener('abort', () => end(() => reject(signal.reason)), { signal: listening.signal });
  });
}
