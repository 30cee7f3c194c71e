/** The worker thread of results-worker-pool.ts. Confirms each batch of runs, and sends the results as JSON in the end. */
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
