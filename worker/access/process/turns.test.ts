/** Work of all connections in turns of the event loop. */
import { expect, test } from 'vitest';
import { runInTurn } from './turns.ts';

test('A7: a turn begins no further work after its time, and the work keeps its order', async () => {
  const done: number[] = [];
  const turns: number[] = [];
  const count = 8;
  const spin = (n: number): void => {
    const until = performance.now() + 4;
    while (performance.now() < until);
    done.push(n);
  };
  for (let n = 0; n < count; n += 1) runInTurn(() => spin(n));
  while (done.length < count) {
    const before = done.length;
    await new Promise(setImmediate);
    turns.push(done.length - before);
  }
  expect(done).toEqual(Array.from({ length: count }, (_, n) => n));
  expect(Math.max(...turns)).toBeLessThanOrEqual(2);
});
