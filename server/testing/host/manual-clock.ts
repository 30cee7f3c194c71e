/** Clocks that a test advances. Their timers use the real clock, so that a server with them still works. */
import { type Clock, systemClock } from '../../platform/clock.ts';

export interface ManualClock extends Clock {
  advance(ms: number): void;
}

/** Creates a stopped clock; `at` is its time in milliseconds since the epoch. */
export function createManualClock(at: number): ManualClock {
  let now = at;
  return {
    ...systemClock,
    now: () => now,
    elapsed: () => now,
    advance(ms) {
      now += ms;
    },
  };
}

/** Creates a clock that runs as the machine's, and that a test puts ahead. Times between two steps stay apart. */
export function createShiftedClock(): ManualClock {
  let aheadMs = 0;
  return {
    ...systemClock,
    now: () => systemClock.now() + aheadMs,
    advance(ms) {
      aheadMs += ms;
    },
  };
}
