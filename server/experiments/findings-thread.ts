/** The thread that looks at the runs of one experiment; see findings.ts. Answers what it found as JSON. */
import { parentPort, workerData } from 'node:worker_threads';
import { read, type Unread } from './analyse.ts';
import { type AnyQuestion, answer } from './answers.ts';
import type { UnitRun } from './live-results.ts';

const runs: UnitRun[] = [];

parentPort?.on('message', (part: readonly Unread[] | null) => {
  if (part) {
    for (const run of part) runs.push(read(run));
    return;
  }
  parentPort?.postMessage(answer(workerData as AnyQuestion, runs));
  parentPort?.close();
});
