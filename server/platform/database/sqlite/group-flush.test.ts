/** Waiters and syncs: a sync never releases a waiter that called after it began. */
import { expect, test } from 'vitest';
import { GroupFlush } from './group-commit.ts';

/** Returns a flush whose syncs end when the test calls their callback. */
function createManualFlush() {
  const syncs: ((error: Error | null) => void)[] = [];
  const order: string[] = [];
  const flush = new GroupFlush({
    fd: 0,
    prepare: () => () => void order.push('recorded'),
    rewriteUnsynced: () => void order.push('rewritten'),
    sync: (_fd, done) => syncs.push(done),
  });
  const requestFlush = (caller: string): Promise<void> =>
    flush.flush().then(
      () => void order.push(caller),
      (error: Error) => void order.push(`${caller}: ${error.message}`),
    );
  return { syncs, order, requestFlush };
}

test('the first sync that begins after the call releases a waiter', async () => {
  const { syncs, order, requestFlush } = createManualFlush();
  const first = requestFlush('first');
  expect(syncs).toHaveLength(1);
  const late = [requestFlush('late'), requestFlush('later')];
  expect(syncs).toHaveLength(1);
  syncs[0]?.(null);
  await first;
  expect(order).toEqual(['recorded', 'first']);
  expect(syncs).toHaveLength(2);
  const last = requestFlush('last');
  syncs[1]?.(null);
  await Promise.all(late);
  expect(order).toEqual(['recorded', 'first', 'recorded', 'late', 'later']);
  syncs[2]?.(null);
  await last;
  expect(syncs).toHaveLength(3);
});

test('W13: a failing sync fails its own group, and the next one follows a rewrite', async () => {
  const { syncs, order, requestFlush } = createManualFlush();
  const group = [requestFlush('a')];
  group.push(requestFlush('b'));
  syncs[0]?.(new Error('disk gone'));
  syncs[1]?.(null);
  await Promise.all(group);
  expect(order).toEqual(['rewritten', 'recorded', 'a: disk gone', 'b']);
});
