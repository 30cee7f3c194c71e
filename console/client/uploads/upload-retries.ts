/** Further attempts of an upload of the console, and its errors for people. */
import { ApiError } from '@switchyard/contract/client.ts';
import { UPLOAD_BYTES_MAX, UPLOAD_RETENTION_MS } from '@switchyard/contract/limits.ts';
import { formatBinaryBytes, formatSides } from '@switchyard/contract/presentation/format-quantity.ts';
import { growPauses, isTransientResponse } from '@switchyard/contract/transfer/retry.ts';
import { ConnectionLostError } from './send-with-progress.ts';

const HOURS = UPLOAD_RETENTION_MS / (60 * 60 * 1000);
const FORBIDDEN = 403;
const PAYLOAD_TOO_LARGE = 413;

/** Returns true for an error that a later attempt may not have: a lost connection, and a server that is overloaded or down. */
export function isTransient(error: unknown): boolean {
  return error instanceof ApiError ? isTransientResponse(error) : error instanceof ConnectionLostError;
}

/**
 * Yields the pauses of an upload that a person watches and can cancel. They end when the server has removed its parts. Without a
 * part the server refuses it earlier.
 */
export function* limitPauses(now: () => number): Generator<number, void> {
  const expiresAt = now() + UPLOAD_RETENTION_MS;
  for (const pauseMs of growPauses()) {
    if (now() + pauseMs >= expiresAt) return;
    yield pauseMs;
  }
}

/** Returns the sentence for the time until the next attempt. */
export function describeRetry(error: unknown): string {
  return error instanceof ApiError
    ? `The server responded with ${error.status}, trying again: ${error.reason}`
    : 'Connection lost, trying again';
}

/** Returns an error for content that is too large; undefined for other content. */
export function findSizeError(bytes: number): Error | undefined {
  if (bytes <= UPLOAD_BYTES_MAX) return undefined;
  const [size, most] = formatSides([bytes, UPLOAD_BYTES_MAX], formatBinaryBytes);
  return new Error(`The file has ${size}, and an upload has at most ${most}. Send a smaller file.`);
}

/** Returns the error of an upload that has ended, with the next step for people. */
export function explainFailure(error: unknown): unknown {
  if (error instanceof ConnectionLostError)
    return new Error(
      `The server was not reached for ${HOURS} hours, so the upload has expired. Check the network, and send the file again.`,
    );
  if (!(error instanceof ApiError)) return error;
  if (error.status === FORBIDDEN)
    return new Error(`The upload has ended early. Send the file again. The server says: ${error.reason}`);
  if (error.status === PAYLOAD_TOO_LARGE)
    return new Error(
      'A proxy in front of the server refused the request as too large. Ask its administrator to accept requests of 8 MB.',
    );
  return error;
}
