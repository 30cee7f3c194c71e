import { expect, test } from 'vitest';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { REFUSALS_MAX, RefusalLimiter } from './refusal-limiter.ts';

test('allows one entry per minute for each kind of refusal', () => {
  const clock = createManualClock(0);
  const limiter = new RefusalLimiter(clock);
  expect([limiter.allow('a'), limiter.allow('a'), limiter.allow('b')]).toEqual([true, false, true]);
  clock.advance(59_999);
  expect(limiter.allow('a')).toBe(false);
  clock.advance(1);
  expect(limiter.allow('a')).toBe(true);
});

test('the memory of refusals grew without bound within a minute: the oldest beyond 10,000 is evicted', () => {
  const limiter = new RefusalLimiter(createManualClock(0));
  for (let at = 0; at <= REFUSALS_MAX; at += 1) limiter.allow(`key-${at} deleteApplication`);
  expect(limiter.allow('key-1 deleteApplication')).toBe(false);
  expect(limiter.allow('key-0 deleteApplication')).toBe(true);
});
