import { describe, expect, test } from 'vitest';
import { computeNextBatchSize } from '../lists/list-responses.ts';
import { Budget } from './budget.ts';
import { computeConnectionsMax } from './connections.ts';

const KIB = 1024;

/** A budget of 800 KiB: large parts can have 600 KiB, and one holder 300 KiB of large parts. */
function createSmallBudget() {
  const timers = new Set<() => void>();
  const clock = {
    now: () => 0,
    elapsed: () => 0,
    processorTime: () => 0,
    after(_: number, callback: () => void) {
      timers.add(callback);
      return () => timers.delete(callback);
    },
  };
  const budget = new Budget({ bytes: 800 * KIB, reason: 'There is no memory left', clock });
  const admitted: string[] = [];
  const reserve = async (holder: string, kib: number, isDisconnected = false) => {
    const reservation = await budget.reserve(holder, kib * KIB, () => isDisconnected);
    admitted.push(holder);
    return reservation;
  };
  /** Ends every wait without a reservation. */
  const expireWaits = () => {
    for (const callback of [...timers]) callback();
  };
  return { budget, reserve, admitted, expireWaits };
}

describe('V4: a memory budget', () => {
  test('admits large parts of one holder up to half of the budget for large parts, and leaves the rest to others', async () => {
    const { reserve, admitted } = createSmallBudget();
    await reserve('a', 100);
    const second = await reserve('a', 200);
    const third = reserve('a', 100);
    await reserve('b', 300);
    expect(admitted).toEqual(['a', 'a', 'b']);
    second.release();
    await third;
    expect(admitted).toEqual(['a', 'a', 'b', 'a']);
  });

  test('admits parts in the order of requests, except for a holder whose share is used up', async () => {
    const { reserve, admitted } = createSmallBudget();
    const first = await reserve('a', 300);
    const b = await reserve('b', 300);
    const waiting = [reserve('a', 100), reserve('c', 200), reserve('d', 100)];
    b.release();
    await waiting[1];
    expect(admitted).toEqual(['a', 'b', 'c', 'd']);
    first.release();
    await Promise.all(waiting);
    expect(admitted.at(-1)).toBe('a');
  });

  test('reserves a quarter of the budget for parts of up to 64 KiB', async () => {
    const { budget, reserve } = createSmallBudget();
    await reserve('a', 300);
    await reserve('b', 300);
    expect(() => budget.reserveNow('c', 65 * KIB)).toThrow('There is no memory left');
    budget.reserveNow('c', 64 * KIB);
  });

  test('admits a part that is larger than a share when the budget is unused', async () => {
    const { budget, reserve } = createSmallBudget();
    const reservation = await reserve('a', 1000);
    expect(() => budget.reserveNow('b', 1)).toThrow('There is no memory left');
    reservation.release();
    reservation.release();
    budget.reserveNow('b', 300 * KIB);
    expect(() => budget.reserveNow('b', 1000 * KIB)).toThrow('There is no memory left');
  });

  test('refuses a caller after the maximum wait with 429 and Retry-After, and is contended once', async () => {
    const { budget, reserve, expireWaits } = createSmallBudget();
    await reserve('a', 300);
    expect(budget.isContended).toBe(false);
    await reserve('b', 300);
    const waiting = reserve('c', 300);
    expect(budget.isContended).toBe(true);
    expireWaits();
    await expect(waiting).rejects.toMatchObject({
      status: 429,
      message: 'There is no memory left; try again in 2 s.',
      headers: { 'retry-after': '2' },
    });
    expect(budget.isContended).toBe(true);
    expect(budget.isContended).toBe(false);
  });

  test('is not contended while a holder waits for its own share', async () => {
    const { budget, reserve, expireWaits } = createSmallBudget();
    await reserve('a', 300);
    const waiting = reserve('a', 300);
    expect(budget.isContended).toBe(false);
    expireWaits();
    await expect(waiting).rejects.toMatchObject({ status: 429 });
    expect(budget.isContended).toBe(false);
  });

  test('admits no part before an older waiting part, except small parts up to a quarter', async () => {
    const { budget, reserve, admitted } = createSmallBudget();
    const smallParts = await Promise.all(Array.from({ length: 9 }, (_, index) => reserve(`s${index}`, 60)));
    const waiting = [reserve('large', 300), reserve('larger', 80)];
    expect(() => budget.reserveNow('b', 65 * KIB)).toThrow('There is no memory left');
    expect(() => budget.reserveNow('b', 60 * KIB)).toThrow('There is no memory left');
    for (const part of smallParts.splice(0, 6)) part.release();
    expect(admitted.slice(9)).toEqual([]);
    await Promise.all(waiting);
    expect(admitted.slice(9)).toEqual(['large', 'larger']);
  });

  test('admits small parts before a waiting large part, up to a quarter of the budget', async () => {
    const { budget, reserve, admitted } = createSmallBudget();
    await reserve('a', 300);
    await reserve('b', 280);
    const large = reserve('c', 100);
    for (const holder of ['s1', 's2', 's3']) budget.reserveNow(holder, 60 * KIB);
    expect(() => budget.reserveNow('s4', 60 * KIB)).toThrow('There is no memory left');
    expect(admitted).toEqual(['a', 'b']);
    void large.catch(() => {});
  });

  test('reserves nothing for a caller that has disconnected', async () => {
    const { budget, reserve } = createSmallBudget();
    await reserve('a', 800, true);
    budget.reserveNow('b', 300 * KIB);
  });

  test('admits the next request when a waiting caller has disconnected', async () => {
    const { reserve, admitted } = createSmallBudget();
    const first = await reserve('a', 300);
    const gone = reserve('a', 300, true);
    const next = reserve('a', 300);
    first.release();
    await Promise.all([gone, next]);
    expect(admitted).toEqual(['a', 'a', 'a']);
  });
});

test.each([
  [20_000, 2, 4096],
  [1024, 2, 428],
  [256, 2, 44],
  [64, 2, 16],
  [Number.POSITIVE_INFINITY, 0, 4096],
])('V5: %s descriptors and %i slots allow %i connections', (descriptors, slots, connections) => {
  expect(computeConnectionsMax(descriptors, slots)).toBe(connections);
});

test.each([
  [100, 10 * KIB, 100],
  [100, 4 * 1024 * KIB, 25],
  [1, 50 * 1024 * KIB, 1],
  [0, 0, 1],
])('V4: after a batch of %i rows with %i characters, the next batch has %i rows', (rows, chars, next) => {
  expect(computeNextBatchSize(rows, chars, 100)).toBe(next);
});
