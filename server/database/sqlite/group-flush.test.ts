/** Who waits for which sync: nobody is released by one that began before they asked. */
import { expect, test } from 'vitest';
import { GroupFlush } from './group-flush.ts';

/** A disk whose syncs end when the test says so. */
function slowDisk() {
  const syncs: ((error: Error | null) => void)[] = [];
  const flush = new GroupFlush(0, (_fd, done) => syncs.push(done));
  const order: string[] = [];
  const ask = (who: string): Promise<void> =>
    flush.flush().then(
      () => void order.push(who),
      (error: Error) => void order.push(`${who}: ${error.message}`),
    );
  return { syncs, order, ask };
}

test('a waiter is released by the first sync that began after it asked', async () => {
  const { syncs, order, ask } = slowDisk();
  const first = ask('first');
  expect(syncs).toHaveLength(1);
  const late = [ask('late'), ask('later')];
  expect(syncs).toHaveLength(1);
  syncs[0]?.(null);
  await first;
  expect(order).toEqual(['first']);
  expect(syncs).toHaveLength(2);
  const last = ask('last');
  syncs[1]?.(null);
  await Promise.all(late);
  expect(order).toEqual(['first', 'late', 'later']);
  syncs[2]?.(null);
  await last;
  expect(syncs).toHaveLength(3);
});

test('a sync that fails fails its own group, and the next is tried', async () => {
  const { syncs, order, ask } = slowDisk();
  const group = [ask('a')];
  group.push(ask('b'));
  syncs[0]?.(new Error('disk gone'));
  syncs[1]?.(null);
  await Promise.all(group);
  expect(order).toEqual(['a: disk gone', 'b']);
});
