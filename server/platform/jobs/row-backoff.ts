/** Rows of a job that failed and wait for their next attempt. Kept in memory: a restart tries each of them at once. */
import type { Clock } from '../clock.ts';

/** No longer than the interval of the jobs whose rows others wait for, so that their next run tries a failed row again. */
export const RETRY_DELAY_MS = 5000;
/** Above it, rows whose delay is over are dropped. */
const ROWS_MAX = 1000;

/** Remembers the failed rows of one job until their next attempt. */
export class RowBackoff {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #waitsUntil = new Map<string, number>();

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /** True for `RETRY_DELAY_MS` after the row failed. */
  isWaiting(key: string): boolean {
    return (this.#waitsUntil.get(key) ?? 0) > this.#clock.elapsed();
  }

  /** Makes the row wait. */
  add(key: string): void {
    const now = this.#clock.elapsed();
    if (this.#waitsUntil.size >= ROWS_MAX)
      for (const [other, until] of this.#waitsUntil) if (until <= now) this.#waitsUntil.delete(other);
    this.#waitsUntil.set(key, now + RETRY_DELAY_MS);
  }
}
