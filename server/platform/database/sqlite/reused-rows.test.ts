/** The cache reuses rows until a commit of this process or of another. */
import { expect, test } from 'vitest';
import { ReusedRows } from './reused-rows.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function readWithCount() {
  let version = 1;
  let reads = 0;
  const reused = new ReusedRows(() => version);
  const read = (id = 'a') => reused.get('select', [id], () => [{ id, read: ++reads }]);
  return {
    reused,
    read,
    commitElsewhere: () => {
      version += 1;
    },
  };
}

test('reads rows once for each set of values', () => {
  const { read } = readWithCount();
  expect([read(), read(), read('b'), read('b')]).toEqual([
    [{ id: 'a', read: 1 }],
    [{ id: 'a', read: 1 }],
    [{ id: 'b', read: 2 }],
    [{ id: 'b', read: 2 }],
  ]);
});

test('reads rows again immediately after a commit of this process', () => {
  const { reused, read } = readWithCount();
  read();
  reused.clear();
  expect(read()).toEqual([{ id: 'a', read: 2 }]);
});

test('reads rows again in the next turn after a commit of another process', async () => {
  const { read, commitElsewhere } = readWithCount();
  read();
  await nextTurn();
  expect(read()).toEqual([{ id: 'a', read: 1 }]);
  commitElsewhere();
  await nextTurn();
  expect(read()).toEqual([{ id: 'a', read: 2 }]);
});

test('freezes the rows that callers share', () => {
  const { read } = readWithCount();
  expect(() => Object.assign(read()[0] ?? {}, { id: 'b' })).toThrow(TypeError);
});
