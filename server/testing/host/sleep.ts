import { systemClock } from '../../clock.ts';

/** Waits for so many milliseconds of real time. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => systemClock.after(ms, resolve));
}
