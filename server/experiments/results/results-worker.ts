/**
 * A worker thread of results-worker-pool.ts, for one computation after another. Confirms each batch of runs, and sends the
 * results as JSON in the end. A new request discards the runs of one that was given up.
 */
import { parentPort } from 'node:worker_threads';
import type { RawObservation } from './batch-analysis.ts';
import { computeResults, createRunReader, type ResultsRequest } from './compute-results.ts';
import type { RunReader } from './run-reader.ts';

/** What the pool sends: a request, each batch of its runs, and the end of the runs. Each has one message as its answer. */
export type ResultsMessage =
  | { kind: 'request'; request: ResultsRequest }
  | { kind: 'runs'; runs: readonly RawObservation[] }
  | { kind: 'end' };

/** The computation in progress. */
let current: { request: ResultsRequest; reader: RunReader } | undefined;

function handle(message: ResultsMessage): string {
  if (message.kind === 'request') {
    current = { request: message.request, reader: createRunReader(message.request) };
    return '';
  }
  if (!current) throw new Error('Runs came before their request.');
  const { request, reader } = current;
  if (message.kind === 'runs') {
    for (const run of message.runs) reader.add(run);
    return '';
  }
  current = undefined;
  return computeResults(request, reader);
}

parentPort?.on('message', (message: ResultsMessage) => parentPort?.postMessage(handle(message)));
