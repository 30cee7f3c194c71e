import { systemClock } from '../../platform/clock.ts';

/** Waits for real time. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => systemClock.after(ms, resolve));
}
