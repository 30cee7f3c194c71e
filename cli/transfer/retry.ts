/** Repeats a request after a lost connection, with growing pauses. */
import { setTimeout } from 'node:timers/promises';
import { ApiError } from '@switchyard/contract/client.ts';
import {
  growPauses,
  isTransientResponse,
  type OnRetry,
  retry as retryByPolicy,
} from '@switchyard/contract/transfer/retry.ts';

const PAUSES = 5;
/** Errors of `fetch` and of its body for a connection that failed. */
const CONNECTION_ERRORS = new Set(['fetch failed', 'terminated']);
/** A certificate that is not trusted stays so. */
const FINAL_CODES = /CERT|SIGNATURE|ALTNAME/;

/** Returns true for an error that a later attempt may not have: a lost connection, and a server that is overloaded or down. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ApiError) return isTransientResponse(error);
  if (!(error instanceof TypeError) || !CONNECTION_ERRORS.has(error.message)) return false;
  const { cause } = error;
  return !(cause instanceof Error && 'code' in cause && FINAL_CODES.test(String(cause.code)));
}

/**
 * Returns what the first successful attempt returns. After a transient error it waits and tries again, five times within 16
 * seconds. Throws the last error, and every other error at once.
 */
export function retry<T>(
  attempt: () => Promise<T>,
  { signal, onRetry }: { signal: AbortSignal; onRetry?: OnRetry },
): Promise<T> {
  return retryByPolicy(attempt, {
    signal,
    pauses: growPauses(PAUSES),
    isTransient,
    wait: (pauseMs) => setTimeout(pauseMs, undefined, { signal }),
    ...(onRetry && { onRetry }),
  });
}
