/** The time allowances of slow callers: their limits, and the arithmetic of a check; see slow-clients.ts for the rules. */

/** The limits of one server for slow callers. */
export interface SlowClientLimits {
  /** The time between two checks of all connections. */
  checkIntervalMs: number;
  /** The time that a body may stand still, at its beginning and later. */
  bodyTimeoutMs: number;
  /** The time in which the caller has to read some of a response. */
  responseTimeoutMs: number;
}

export const DEFAULT_LIMITS: SlowClientLimits = {
  checkIntervalMs: 5_000,
  bodyTimeoutMs: 30_000,
  responseTimeoutMs: 120_000,
};
/** Bytes of a body that earn a millisecond. */
const BYTES_PER_MS = 1;
/** The same while memory is contended, and the factors by which allowances then run out faster. */
const CONTENDED_BYTES_PER_MS = 32;
const CONTENDED_BODY_FACTOR = 3;
const CONTENDED_RESPONSE_FACTOR = 8;
export const SLOW_BODY_MESSAGE = `The body of the request came too slowly: after ${DEFAULT_LIMITS.bodyTimeoutMs / 1000} s it has to come at ${BYTES_PER_MS * 1000} bytes a second. Send it again over a faster connection.`;

/** Limits under the current state of the memory. */
export interface CheckContext {
  limits: SlowClientLimits;
  isContended: boolean;
}

/** Returns the allowance of a body after a check; it is used up below 0. `earnedBytes` came since the check before. */
export function spendBodyAllowance(
  remainingMs: number,
  earnedBytes: number,
  { limits, isContended }: CheckContext,
): number {
  const earnedMs = earnedBytes / (isContended ? CONTENDED_BYTES_PER_MS : BYTES_PER_MS);
  const spentMs = limits.checkIntervalMs * (isContended ? CONTENDED_BODY_FACTOR : 1);
  return Math.min(limits.bodyTimeoutMs, remainingMs + earnedMs) - spentMs;
}

/** Returns the allowance of a response after a check; it is used up below 0. */
export function spendResponseAllowance(
  remainingMs: number,
  isRead: boolean,
  { limits, isContended }: CheckContext,
): number {
  if (isRead) return limits.responseTimeoutMs;
  return remainingMs - limits.checkIntervalMs * (isContended ? CONTENDED_RESPONSE_FACTOR : 1);
}
