/** The rounds of streams, on a clock that the test drives. */
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../clock.ts';
import { PacedRounds } from './paced-rounds.ts';

test.each([
  ['a cheap round is repeated after 40 ms', 0.2, 40],
  ['the pause is 79 times the processor time of the round', 10, 790],
  ['the pause is 2 s at most', 100, 2_000],
])('after a wake-up, %s', async (_, usedMs, pauseMs) => {
  let processorMs = 0;
  let schedule = (_delayMs: number, _callback: () => void): void => {};
  const waitForTimer = () =>
    new Promise<{ delayMs: number; callback: () => void }>((resolve) => {
      schedule = (delayMs, callback) => resolve({ delayMs, callback });
    });
  const clock: Clock = {
    ...systemClock,
    elapsed: () => 0,
    processorTime: () => processorMs,
    after(delayMs, callback) {
      schedule(delayMs, callback);
      return () => {};
    },
  };
  const paced = new PacedRounds(clock, async () => {
    processorMs += usedMs;
  });
  const first = waitForTimer();
  paced.start();
  const { delayMs, callback } = await first;
  expect(delayMs).toBe(0);
  const second = waitForTimer();
  callback();
  // Without a wake-up, only the interval for lost notifications passes.
  expect((await second).delayMs).toBe(Math.max(1_000, pauseMs));
  const woken = waitForTimer();
  paced.wake();
  expect((await woken).delayMs).toBe(pauseMs);
});
