/** A key cannot shut out the other keys of its person, whatever it uses and however many keys it creates. */
import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../../testing/host/manual-clock.ts';
import { formatHolder } from '../handlers/handler.ts';
import { Budget } from './budget.ts';
import { SharedUse } from './member-share.ts';
import { RateLimiter } from './rate-limit.ts';

const SHARE = 100;
const key = (name: string, member = 'ada'): string => formatHolder(member, name);

/** Uses up what the holder may use, one by one, and returns how much that was. */
function exhaust(use: SharedUse, holder: string): number {
  let count = 0;
  for (; use.fits(holder, 1, SHARE); count += 1) use.add(holder, 1);
  return count;
}

describe('A9: the share of a member', () => {
  test('belongs to one key alone, and leaves a reserve to the next ones', () => {
    const use = new SharedUse();
    expect(exhaust(use, key('viewer'))).toBe(SHARE);
    expect(exhaust(use, key('admin'))).toBe(13);
    expect(use.countMember(key('admin'))).toBe(113);
    expect(exhaust(use, key('any', 'other member'))).toBe(SHARE);
  });

  test('leaves something to a person whose leaked key has created others', () => {
    const use = new SharedUse();
    for (const name of ['leaked', 'one', 'two', 'three']) exhaust(use, key(name));
    expect(use.fits(key('admin'), 1, SHARE)).toBe(true);
  });

  test('is that of the member for a holder without a key', () => {
    const use = new SharedUse();
    expect(exhaust(use, 'address 192.0.2.1')).toBe(SHARE);
  });

  test('is free again after its use', () => {
    const use = new SharedUse();
    const holder = key('viewer');
    const count = exhaust(use, holder);
    use.add(holder, -count);
    expect([use.countMember(holder), exhaust(use, holder)]).toEqual([0, SHARE]);
  });
});

test('A9: the waits of a viewer key leave requests to the other keys of its person', () => {
  const budget = new Budget({ bytes: 4096, reason: 'Too many', clock: createManualClock(0) });
  const waits = Array.from({ length: 2048 }, () => budget.reserveNow(key('viewer'), 1));
  expect(() => budget.reserveNow(key('viewer'), 1)).toThrow('Too many');
  const own = Array.from({ length: 200 }, () => budget.reserveNow(key('admin'), 1));
  for (const reservation of [...waits, ...own]) reservation.release();
  expect(() => budget.reserveNow(key('admin'), 2048)).not.toThrow();
});

test('A9: a key that uses up its rate leaves requests to the other keys of its person', () => {
  const clock = createManualClock(0);
  const limiter = new RateLimiter({ perMinute: 60, burst: 40 }, clock);
  const consume = (name: string) => limiter.consume(key(name)).isAllowed;
  const exhaustRate = (name: string): number => {
    let count = 0;
    while (consume(name)) count += 1;
    return count;
  };
  expect(exhaustRate('viewer')).toBe(40);
  expect(exhaustRate('minted')).toBe(5);
  expect(consume('admin')).toBe(true);
  clock.advance(60_000);
  expect(exhaustRate('viewer')).toBe(40);
});
