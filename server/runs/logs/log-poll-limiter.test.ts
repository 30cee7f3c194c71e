/** However many follow, they ask no more often than the server has time for, and nobody waits longer than they must. */

import type { KeyId } from '@switchyard/contract/schemas/ids.ts';
import { expect, test } from 'vitest';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { LogPollLimiter, POLLS_PER_SECOND_MAX } from './log-poll-limiter.ts';

const STEP_MS = 10;
const KEY = 'key-0' as KeyId;

/** Followers who ask when they are told to, for so many seconds; answers the questions of each second and the last waits. */
function follow(
  count: number,
  seconds: number,
  pace = new LogPollLimiter(clock, null),
  keys = 1,
): { asked: number[]; waits: number[] } {
  const begin = clock.now();
  // They come in over the first second.
  const next = Array.from({ length: count }, (_, n) => begin + (n / count) * 1000);
  const asked: number[] = new Array<number>(seconds).fill(0);
  const waits: number[] = new Array<number>(count).fill(0);
  for (; clock.now() < begin + seconds * 1000; clock.advance(STEP_MS)) {
    const second = Math.floor((clock.now() - begin) / 1000);
    for (const [n, at] of next.entries()) {
      if (at > clock.now()) continue;
      const wait = pace.nextPollSeconds(`key-${n % keys}` as KeyId);
      asked[second] = (asked[second] ?? 0) + 1;
      waits[n] = wait;
      next[n] = clock.now() + wait * 1000;
    }
  }
  return { asked, waits };
}
const clock = createManualClock(1_800_000_000_000);

test.each([1, 50, POLLS_PER_SECOND_MAX / 2])('%i followers ask every second', (count) => {
  const { asked, waits } = follow(count, 10);
  expect(new Set(waits)).toEqual(new Set([1]));
  expect(new Set(asked.slice(1))).toEqual(new Set([count]));
});

test.each([1000, 5000])('%i followers share what questions there are', (count) => {
  const { asked, waits } = follow(count, 60);
  const later = asked.slice(20);
  const mean = later.reduce((sum, one) => sum + one, 0) / later.length;
  expect(mean).toBeLessThanOrEqual(POLLS_PER_SECOND_MAX);
  expect(mean).toBeGreaterThan(POLLS_PER_SECOND_MAX / 2);
  // Nobody is told to wait for much longer than their share of the questions asks for.
  expect(Math.max(...waits)).toBeLessThanOrEqual(Math.ceil((count / POLLS_PER_SECOND_MAX) * 1.2) + 1);
});

test('with one key they ask half as often as the key may call, and with many keys as if there were none', () => {
  // 6000 requests a minute are 100 a second.
  const rate = { perMinute: 6000 };
  const one = follow(1000, 90, new LogPollLimiter(clock, rate)).asked.slice(30);
  expect(one.reduce((sum, asked) => sum + asked, 0) / one.length).toBeLessThanOrEqual(50);
  const many = follow(1000, 60, new LogPollLimiter(clock, rate), 100).asked.slice(20);
  const mean = many.reduce((sum, asked) => sum + asked, 0) / many.length;
  expect(mean).toBeLessThanOrEqual(POLLS_PER_SECOND_MAX);
  expect(mean).toBeGreaterThan(POLLS_PER_SECOND_MAX / 2);
});

test('nobody waits longer than half a minute', () => {
  const pace = new LogPollLimiter(clock, null);
  const waits = Array.from({ length: 100_000 }, () => pace.nextPollSeconds(KEY));
  expect(Math.max(...waits)).toBe(30);
  expect(waits[0]).toBe(1);
});

test('when the many have gone the others ask every second again', () => {
  const pace = new LogPollLimiter(clock, null);
  follow(3000, 20, pace);
  clock.advance(30_000);
  expect(follow(10, 5, pace).waits).toEqual(new Array(10).fill(1));
});

test('a clock that is set forward or back by a day does no harm', () => {
  const pace = new LogPollLimiter(clock, null);
  follow(3000, 5, pace);
  for (const day of [86_400_000, -2 * 86_400_000]) {
    clock.advance(day);
    expect(pace.nextPollSeconds(KEY)).toBe(1);
    expect(follow(10, 5, pace).waits).toEqual(new Array(10).fill(1));
  }
});
