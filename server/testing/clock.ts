/** A clock that a test moves. Timers run by the real one, so that a server under it goes on working. */
import { type Clock, systemClock } from '../clock.ts';

export interface MovedClock extends Clock {
  move(ms: number): void;
}

export function movedClock(at: number): MovedClock {
  let now = at;
  return {
    ...systemClock,
    now: () => now,
    elapsed: () => now,
    move(ms) {
      now += ms;
    },
  };
}
