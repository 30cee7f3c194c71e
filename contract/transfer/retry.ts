/** Repeats a request after a transient error, with growing pauses. The caller knows the errors and the timers of its platform. */
import type { ApiError } from '../client.ts';

const FIRST_PAUSE_MS = 500;
const PAUSE_MAX_MS = 16_000;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR_MIN = 500;

/** Notifies of a failed attempt, and of the pause before the next one. */
export type OnRetry = (error: unknown, pauseMs: number) => void;

/** The attempts after a failed one. */
export interface RetryPolicy {
  signal: AbortSignal;
  /** The pauses before further attempts. An error after the last of them is final. */
  pauses: Iterable<number>;
  /** Returns true for an error that a later attempt may not have. */
  isTransient(error: unknown): boolean;
  /** Waits. Throws the reason of the signal once it is aborted. */
  wait(pauseMs: number, signal: AbortSignal): Promise<void>;
  onRetry?: OnRetry;
}

/** Yields pauses in milliseconds, which double from half a second to 16 seconds. */
export function* growPauses(count = Number.POSITIVE_INFINITY): Generator<number, void> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let number = 0; number < count; number += 1) {
    yield pauseMs;
    pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS);
  }
}

/** Returns true for a response of a server that is overloaded or down. */
export function isTransientResponse({ status }: ApiError): boolean {
  return status >= SERVER_ERROR_MIN || status === TOO_MANY_REQUESTS;
}

/** Returns what the first successful attempt returns. Throws the error of the last attempt, and every final error at once. */
export async function retry<T>(attempt: () => Promise<T>, policy: RetryPolicy): Promise<T> {
  const { signal, pauses, isTransient, wait, onRetry = () => {} } = policy;
  for (const pauseMs of pauses) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
      onRetry(error, pauseMs);
      await wait(pauseMs, signal);
    }
  }
  return attempt();
}
