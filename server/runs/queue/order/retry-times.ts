/** The delay before a run is retried after a fault of its host. Until its end the run does not start. */
import type { ExpressionBuilder } from 'kysely';
import type { Tables } from '../../../platform/database/database.ts';

/** The longest delay before a run is retried after a fault of its host. */
export const RETRY_DELAY_MAX_MS = 60_000;

/** The times between which the retry delay of a run has ended. A later end was written by a worker whose clock was ahead. */
export interface RetryTimes {
  now: number;
  latest: number;
}

/** Returns the times between which the retry delay of a run that may start now has ended. */
export function computeRetryTimes(now: number): RetryTimes {
  return { now, latest: now + RETRY_DELAY_MAX_MS };
}

export const isRetryDue =
  ({ now, latest }: RetryTimes) =>
  (eb: ExpressionBuilder<Tables, 'runs'>) =>
    eb.or([eb('retry_at', 'is', null), eb('retry_at', '<=', now), eb('retry_at', '>', latest)]);
