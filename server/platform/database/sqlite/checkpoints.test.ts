/** A checkpoint thread that fails does not end the process, and the next checkpoint starts another one. */
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { CheckpointThread } from './checkpoints.ts';

const WORKING =
  "const { parentPort } = require('node:worker_threads'); parentPort.on('message', () => parentPort.postMessage('done'));";
const startWorker = (code: string) => new Worker(code, { eval: true });

let thread: CheckpointThread;
afterEach(() => thread.stop());

test.each<[string, () => Worker]>([
  [
    'cannot be started',
    () => {
      throw new Error('no memory is free');
    },
  ],
  ['ends with an error at its start', () => startWorker("throw new Error('no descriptor is free')")],
  [
    'ends during the checkpoint',
    () => startWorker("require('node:worker_threads').parentPort.on('message', () => process.exit())"),
  ],
])('a thread that %s ends the checkpoint, and the next one has another thread', async (_, startFailing) => {
  let starts = 0;
  thread = new CheckpointThread(() => {
    starts += 1;
    return starts === 1 ? startFailing() : startWorker(WORKING);
  });
  await thread.checkpoint();
  await thread.checkpoint();
  await thread.checkpoint();
  expect(starts).toBe(2);
});

test('checkpoints that are requested during one share it', async () => {
  thread = new CheckpointThread(() => startWorker(WORKING));
  const first = thread.checkpoint();
  expect(thread.checkpoint()).toBe(first);
  await first;
  expect(thread.checkpoint()).not.toBe(first);
});
