/** Repeats a request after a lost connection, with growing pauses. */
import { setTimeout } from 'node:timers/promises';
import { ApiError } from '@switchyard/contract/client.ts';

const PAUSES_MS = [500, 1000, 2000, 4000, 8000];
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR_MIN = 500;
/** Errors of `fetch` and of its body for a connection that failed. */
const CONNECTION_ERRORS = new Set(['fetch failed', 'terminated']);
/** A certificate that is not trusted stays so. */
const FINAL_CODES = /CERT|SIGNATURE|ALTNAME/;

/** Notifies of a failed attempt, and of the pause before the next one. */
export type OnRetry = (error: unknown, pauseMs: number) => void;

/** Returns true for an error that a later attempt may not have: a lost connection, and a server that is overloaded or down. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ApiError)
    return error.status >= SERVER_ERROR_MIN || error.status === TOO_MANY_REQUESTS;
  if (!(error instanceof TypeError) || !CONNECTION_ERRORS.has(error.message)) return false;
  const { cause } = error;
  return !(cause instanceof Error && 'code' in cause && FINAL_CODES.test(String(cause.code)));
}

/**
 * Returns what the first successful attempt returns. After a transient error it waits and tries again, five times within 16
 * seconds. Throws the last error, and every other error at once.
 */
export async function retry<T>(
  attempt: () => Promise<T>,
  { signal, onRetry = () => {} }: { signal: AbortSignal; onRetry?: OnRetry },
): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
      onRetry(error, pauseMs);
      await setTimeout(pauseMs, undefined, { signal });
    }
  }
  return attempt();
}
