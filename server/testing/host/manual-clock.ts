/** A clock that a test moves. Timers run by the real one, so that a server under it goes on working. */
import { type Clock, systemClock } from '../../clock.ts';

export interface ManualClock extends Clock {
  advance(ms: number): void;
}

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
