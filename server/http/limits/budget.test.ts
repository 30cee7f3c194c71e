import { describe, expect, test } from 'vitest';
import { nextBatchSize } from '../lists/list-responses.ts';
import { Budget } from './budget.ts';
import { computeConnectionsMax } from './connections.ts';

const KIB = 1024;

/** A budget of 800 KiB: large parts have 600 of them, one holder 300. `late` ends every wait. */
function small() {
  const timers = new Set<() => void>();
  const clock = {
    now: () => 0,
    elapsed: () => 0,
    after(_: number, callback: () => void) {
      timers.add(callback);
      return () => timers.delete(callback);
    },
  };
  const budget = new Budget({ bytes: 800 * KIB, sentence: 'There is no memory left', clock });
  const settled: string[] = [];
  const hold = async (holder: string, kib: number, isGone = false) => {
    const held = await budget.reserve(holder, kib * KIB, () => isGone);
    settled.push(holder);
    return held;
  };
  const late = () => {
    for (const callback of [...timers]) callback();
  };
  return { budget, hold, settled, late };
}

describe('V4: a budget', () => {
  test('gives one holder half of what there is for large parts, and the rest to others', async () => {
    const { hold, settled } = small();
    await hold('a', 100);
    const second = await hold('a', 200);
    const third = hold('a', 100);
    await hold('b', 300);
    expect(settled).toEqual(['a', 'a', 'b']);
    second.release();
    await third;
    expect(settled).toEqual(['a', 'a', 'b', 'a']);
  });

  test('is given in the order of requests, but for a holder whose share is used up', async () => {
    const { hold, settled } = small();
    const first = await hold('a', 300);
    const b = await hold('b', 300);
    const waiting = [hold('a', 100), hold('c', 200), hold('d', 100)];
    b.release();
    await waiting[1];
    expect(settled).toEqual(['a', 'b', 'c', 'd']);
    first.release();
    await Promise.all(waiting);
    expect(settled.at(-1)).toBe('a');
  });

  test('leaves a quarter to parts of up to 64 KiB', async () => {
    const { budget, hold } = small();
    await hold('a', 300);
    await hold('b', 300);
    expect(() => budget.reserveNow('c', 65 * KIB)).toThrow('There is no memory left');
    budget.reserveNow('c', 64 * KIB);
  });

  test('admits a part that is larger than a share, alone', async () => {
    const { budget, hold } = small();
    const held = await hold('a', 1000);
    expect(() => budget.reserveNow('b', 1)).toThrow('There is no memory left');
    held.release();
    held.release();
    budget.reserveNow('b', 300 * KIB);
    expect(() => budget.reserveNow('b', 1000 * KIB)).toThrow('There is no memory left');
  });

  test('refuses a caller that has waited too long with 429 and Retry-After, and reports the shortage', async () => {
    const { budget, hold, late } = small();
    await hold('a', 300);
    expect(budget.isContended).toBe(false);
    await hold('b', 300);
    const waiting = hold('c', 300);
    expect(budget.isContended).toBe(true);
    late();
    await expect(waiting).rejects.toMatchObject({
      status: 429,
      message: 'There is no memory left; try again in 2 s.',
      headers: { 'retry-after': '2' },
    });
    expect(budget.isContended).toBe(true);
    expect(budget.isContended).toBe(false);
  });

  test('is not short because a holder waits for its own share', async () => {
    const { budget, hold, late } = small();
    await hold('a', 300);
    const waiting = hold('a', 300);
    expect(budget.isContended).toBe(false);
    late();
    await expect(waiting).rejects.toMatchObject({ status: 429 });
    expect(budget.isContended).toBe(false);
  });

  test('lets nobody overtake a part that waits for others, but small ones up to a quarter', async () => {
    const { budget, hold, settled } = small();
    const smalls = await Promise.all(Array.from({ length: 9 }, (_, index) => hold(`s${index}`, 60)));
    const waiting = [hold('large', 300), hold('larger', 80)];
    expect(() => budget.reserveNow('b', 65 * KIB)).toThrow('There is no memory left');
    expect(() => budget.reserveNow('b', 60 * KIB)).toThrow('There is no memory left');
    for (const one of smalls.splice(0, 6)) one.release();
    expect(settled.slice(9)).toEqual([]);
    await Promise.all(waiting);
    expect(settled.slice(9)).toEqual(['large', 'larger']);
  });

  test('lets small parts pass a large one that waits, up to a quarter', async () => {
    const { budget, hold, settled } = small();
    await hold('a', 300);
    await hold('b', 280);
    const large = hold('c', 100);
    for (const holder of ['s1', 's2', 's3']) budget.reserveNow(holder, 60 * KIB);
    expect(() => budget.reserveNow('s4', 60 * KIB)).toThrow('There is no memory left');
    expect(settled).toEqual(['a', 'b']);
    void large.catch(() => {});
  });

  test('keeps nothing for a caller that is gone already', async () => {
    const { budget, hold } = small();
    await hold('a', 800, true);
    budget.reserveNow('b', 300 * KIB);
  });

  test('passes the part of a caller that is gone on to the next', async () => {
    const { hold, settled } = small();
    const first = await hold('a', 300);
    const gone = hold('a', 300, true);
    const next = hold('a', 300);
    first.release();
    await Promise.all([gone, next]);
    expect(settled).toEqual(['a', 'a', 'a']);
  });
});

test.each([
  [20_000, 2, 4096],
  [1024, 2, 428],
  [256, 2, 44],
  [64, 2, 16],
  [Number.POSITIVE_INFINITY, 0, 4096],
])('V5: of %s descriptors, with %i slots, %i connections', (descriptors, slots, connections) => {
  expect(computeConnectionsMax(descriptors, slots)).toBe(connections);
});

test.each([
  [100, 10 * KIB, 100],
  [100, 4 * 1024 * KIB, 25],
  [1, 50 * 1024 * KIB, 1],
  [0, 0, 1],
])('V4: after a part of %i rows with %i characters the next has %i rows', (rows, chars, next) => {
  expect(nextBatchSize(rows, chars, 100)).toBe(next);
});
