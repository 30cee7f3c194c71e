/** The pace at which a log may come. */
import { expect, test } from 'vitest';
import { LogWriter } from './log-writer.ts';
import { NO_MASK } from './mask.ts';

test('A7: the lines of an app wait while too many before them are not written', async () => {
  const timers: (() => void)[] = [];
  let stored = 0;
  const writer = new LogWriter(
    {
      clock: {
        now: () => 0,
        elapsed: () => 0,
        after: (_, callback) => {
          timers.push(callback);
          return () => {};
        },
      },
      log: { debug() {}, info() {}, warn() {}, error() {} },
      writeLog: async ({ chunks }) => {
        stored += chunks.flatMap(({ lines }) => lines).length;
        return true;
      },
    },
    { id: 'run-1' as never, fence: 1 },
  );
  const lines = Array.from({ length: 15_000 }, () => ({ at: 1, stream: 'stderr' as const, text: '' }));
  await writer.add(lines, NO_MASK);
  let mayContinue = false;
  const second = writer.add(lines, NO_MASK).then(() => {
    mayContinue = true;
  });
  // The first timer is that of the write, the second one ends the wait.
  timers.shift()?.();
  while (stored < 4000) await new Promise(setImmediate);
  expect(mayContinue).toBe(false);
  timers.splice(0, 1);
  while (stored < 12_000) {
    timers.shift()?.();
    await new Promise(setImmediate);
  }
  await second;
  expect(
    (await writer.end()).batches.flatMap(({ chunks }) => chunks.flatMap((one) => one.lines)),
  ).toHaveLength(30_000 - stored);
});
