/** A clock that a test advances. Its timers use the real clock, so that a server with it still works. */
import { type Clock, systemClock } from '../../clock.ts';

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
