/** The worker thread of results-worker-pool.ts. Confirms each batch of runs, and sends the results as JSON in the end. */
import { parentPort, workerData } from 'node:worker_threads';
import type { RawObservation } from './batch-analysis.ts';
import { computeResults, createRunReader, type ResultsRequest } from './compute-results.ts';

const request = workerData as ResultsRequest;
const reader = createRunReader(request);

parentPort?.on('message', (batch: readonly RawObservation[] | null) => {
  if (batch) {
    for (const run of batch) reader.add(run);
    parentPort?.postMessage('');
    return;
  }
  parentPort?.postMessage(computeResults(request, reader));
  parentPort?.close();
});
