/** The thread that looks at the runs of one experiment; see findings.ts. Answers each part once it has read it, and in the end what it found as JSON. */
import { parentPort, workerData } from 'node:worker_threads';
import type { RawObservation } from './batch-analysis.ts';
import { computeResults, createRunReader, type ResultsRequest } from './compute-results.ts';

const question = workerData as ResultsRequest;
const reader = createRunReader(question);

parentPort?.on('message', (part: readonly RawObservation[] | null) => {
  if (part) {
    for (const run of part) reader.add(run);
    parentPort?.postMessage('');
    return;
  }
  parentPort?.postMessage(computeResults(question, reader));
  parentPort?.close();
});
