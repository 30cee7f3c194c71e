/** The thread that looks at the runs of one experiment; see findings.ts. Answers each part once it has read it, and in the end what it found as JSON. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Unread } from './analyse.ts';
import { type AnyQuestion, answer, readerFor } from './answers.ts';

const question = workerData as AnyQuestion;
const reader = readerFor(question);

parentPort?.on('message', (part: readonly Unread[] | null) => {
  if (part) {
    for (const run of part) reader.add(run);
    parentPort?.postMessage('');
    return;
  }
  parentPort?.postMessage(answer(question, reader));
  parentPort?.close();
});
