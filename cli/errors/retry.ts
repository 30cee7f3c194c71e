/** Repeats a request after a lost connection, with growing pauses. */
import { setTimeout } from 'node:timers/promises';
import { ApiError, type ClientSettings } from '@switchyard/contract/client.ts';
import {
  growPauses,
  isTransientResponse,
  type OnRetry,
  retry as retryByPolicy,
} from '@switchyard/contract/transfer/retry.ts';

const PAUSES = 5;
/** A server restarts within a minute. */
const OUTAGE_PAUSES = 8;
/** Milliseconds for which a request waits for a server that restarts. */
const OUTAGE_MS = [...growPauses(OUTAGE_PAUSES)].reduce((sum, pauseMs) => sum + pauseMs, 0);
/** Responses of a proxy without a server behind it, and of a server that starts or stops. */
const OUTAGE_STATUSES: readonly number[] = [502, 503, 504];
/** Errors of `fetch` and of its body for a connection that failed. */
const CONNECTION_ERRORS = new Set(['fetch failed', 'terminated']);
/** A certificate that is not trusted stays so, and so does a port that does not speak TLS. */
const FINAL_CODES = /CERT|SIGNATURE|ALTNAME|EPROTO|ERR_SSL/;
/** Codes of a connection that was never open, so that the server got nothing. */
const UNSENT_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Errors after which a retry has given up: one around it would multiply the pauses. */
const finalErrors = new WeakSet<object>();

/** Returns true for an error of a lost connection, and of a server that is overloaded or down. */
export function isTransient(error: unknown): boolean {
  return error instanceof ApiError ? isTransientResponse(error) : isLostConnection(error);
}

function isLostConnection(error: unknown): boolean {
  return (
    error instanceof TypeError && CONNECTION_ERRORS.has(error.message) && !FINAL_CODES.test(readCode(error))
  );
}

/** Returns the code of the cause; empty without one. */
function readCode({ cause }: Error): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
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
    isTransient: isRetryable,
    wait,
    ...(onRetry && { onRetry }),
  });
}

/** Returns true for a transient error that a later attempt may not have. */
export function isRetryable(error: unknown): boolean {
  return isTransient(error) && !(error instanceof Error && finalErrors.has(error));
}

const wait = (pauseMs: number, signal: AbortSignal): Promise<void> =>
  setTimeout(pauseMs, undefined, { signal });

/** Receives the first error of an outage, and the milliseconds for which the request is repeated. */
export type OnOutage = (error: unknown, waitMs: number) => void;

/**
 * Repeats the requests of a client while the server restarts. An address that has never answered may be wrong, so that a failed
 * request is an error at once; `expectsServer` waits for it as well. A request whose copy has another effect is repeated as long
 * as no connection is open.
 */
export function createRepeat({
  signal: end,
  onOutage,
  expectsServer,
}: {
  signal: AbortSignal;
  onOutage: OnOutage;
  expectsServer: boolean;
}): NonNullable<ClientSettings['repeat']> {
  let isExpected = expectsServer;
  let isDown = false;
  const setUp = (): void => {
    isExpected = true;
    isDown = false;
  };
  return async (attempt, { isRepeatable, canResend, signal = end }) => {
    const mayRepeat = (error: unknown): boolean =>
      isExpected && (isRepeatable || (canResend && isUnsent(error)));
    try {
      const result = await retryByPolicy(attempt, {
        signal,
        pauses: growPauses(OUTAGE_PAUSES),
        isTransient: (error) => isOutage(error) && mayRepeat(error),
        wait,
        // Several requests may wait at the same time.
        onRetry: (error) => {
          if (!isDown) onOutage(error, OUTAGE_MS);
          isDown = true;
        },
      });
      setUp();
      return result;
    } catch (error) {
      if (error instanceof ApiError && !isOutage(error)) setUp();
      else if (error instanceof Error && isOutage(error) && mayRepeat(error)) finalErrors.add(error);
      throw error;
    }
  };
}

function isOutage(error: unknown): boolean {
  return error instanceof ApiError ? OUTAGE_STATUSES.includes(error.status) : isLostConnection(error);
}

function isUnsent(error: unknown): boolean {
  return error instanceof Error && UNSENT_CODES.has(readCode(error));
}
