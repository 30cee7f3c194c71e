/** The limit on the total rate of polls, and on the delay of each follower. */
import type { KeyId } from '@switchyard/contract/schemas/ids.ts';
import { expect, test } from 'vitest';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { LogPollLimiter, POLLS_PER_SECOND_MAX } from './log-poll-limiter.ts';

const STEP_MS = 10;
const KEY = 'key-0' as KeyId;

/** Simulates followers that poll at the scheduled times. Returns the polls of each second and the last delays. */
function follow(
  count: number,
  seconds: number,
  limiter = new LogPollLimiter(clock, null),
  keys = 1,
): { polls: number[]; delays: number[] } {
  const begin = clock.now();
  // The first polls are spread over the first second.
  const next = Array.from({ length: count }, (_, follower) => begin + (follower / count) * 1000);
  const polls: number[] = new Array<number>(seconds).fill(0);
  const delays: number[] = new Array<number>(count).fill(0);
  for (; clock.now() < begin + seconds * 1000; clock.advance(STEP_MS)) {
    const second = Math.floor((clock.now() - begin) / 1000);
    for (const [follower, at] of next.entries()) {
      if (at > clock.now()) continue;
      const delay = limiter.schedulePoll(`key-${follower % keys}` as KeyId);
      polls[second] = (polls[second] ?? 0) + 1;
      delays[follower] = delay;
      next[follower] = clock.now() + delay * 1000;
    }
  }
  return { polls, delays };
}
const clock = createManualClock(1_800_000_000_000);

test.each([1, 50, POLLS_PER_SECOND_MAX / 2])('%i followers poll every second', (count) => {
  const { polls, delays } = follow(count, 10);
  expect(new Set(delays)).toEqual(new Set([1]));
  expect(new Set(polls.slice(1))).toEqual(new Set([count]));
});

const computeMean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

test.each([1000, 5000])('%i followers share the total rate', (count) => {
  const { polls, delays } = follow(count, 60);
  const mean = computeMean(polls.slice(20));
  expect(mean).toBeLessThanOrEqual(POLLS_PER_SECOND_MAX);
  expect(mean).toBeGreaterThan(POLLS_PER_SECOND_MAX / 2);
  // No delay is much longer than the share of a follower requires.
  expect(Math.max(...delays)).toBeLessThanOrEqual(Math.ceil((count / POLLS_PER_SECOND_MAX) * 1.2) + 1);
});

test('followers with one key use half of its rate, and with many keys the total rate', () => {
  // 6000 requests a minute are 100 a second.
  const rate = { perMinute: 6000 };
  const withOneKey = follow(1000, 90, new LogPollLimiter(clock, rate)).polls.slice(30);
  expect(computeMean(withOneKey)).toBeLessThanOrEqual(50);
  const mean = computeMean(follow(1000, 60, new LogPollLimiter(clock, rate), 100).polls.slice(20));
  expect(mean).toBeLessThanOrEqual(POLLS_PER_SECOND_MAX);
  expect(mean).toBeGreaterThan(POLLS_PER_SECOND_MAX / 2);
});

test('no delay is longer than 30 s', () => {
  const limiter = new LogPollLimiter(clock, null);
  const delays = Array.from({ length: 100_000 }, () => limiter.schedulePoll(KEY));
  expect(Math.max(...delays)).toBe(30);
  expect(delays[0]).toBe(1);
});

test('followers poll every second again after many others have left', () => {
  const limiter = new LogPollLimiter(clock, null);
  follow(3000, 20, limiter);
  clock.advance(30_000);
  expect(follow(10, 5, limiter).delays).toEqual(new Array(10).fill(1));
});

test('delays stay short after the clock jumps by a day', () => {
  const limiter = new LogPollLimiter(clock, null);
  follow(3000, 5, limiter);
  for (const jumpMs of [86_400_000, -2 * 86_400_000]) {
    clock.advance(jumpMs);
    expect(limiter.schedulePoll(KEY)).toBe(1);
    expect(follow(10, 5, limiter).delays).toEqual(new Array(10).fill(1));
  }
});
