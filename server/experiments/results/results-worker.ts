/**
 * A worker thread of results-worker-pool.ts, for one computation after another. Confirms each batch of runs, and sends the
 * results in the end. A new request discards the runs of one that was given up.
 */
import { parentPort } from 'node:worker_threads';
import {
  type ComputedResults,
  computeResults,
  createRunReader,
  type ResultsRequest,
} from './compute-results.ts';
import { rateStoredResults } from './rate-stored-results.ts';
import type { RawObservation, RunReader } from './run-reader.ts';

/** The pool sends a request, then each batch of its runs, then the end of the runs. Each message has one response. */
export type ResultsMessage =
  | { kind: 'request'; request: ResultsRequest }
  | { kind: 'runs'; runs: readonly RawObservation[] }
  | { kind: 'end' }
  | { kind: 'rate'; results: string };

/** The response to the end of the runs is their results, that to results their verdict in JSON, and null to other messages. */
export type ResultsResponse = ComputedResults | null;

class ResultsWorker {
  /** The computation in progress. */
  #current: { request: ResultsRequest; reader: RunReader } | undefined;

  handle(message: ResultsMessage): ResultsResponse {
    if (message.kind === 'rate') return { json: rateStoredResults(message.results) };
    if (message.kind === 'request') {
      this.#current = { request: message.request, reader: createRunReader(message.request) };
      return null;
    }
    if (!this.#current) throw new Error('Runs came before their request.');
    const { request, reader } = this.#current;
    if (message.kind === 'runs') {
      for (const run of message.runs) reader.add(run);
      return null;
    }
    this.#current = undefined;
    return computeResults(request, reader);
  }
}

const worker = new ResultsWorker();
parentPort?.on('message', (message: ResultsMessage) => parentPort?.postMessage(worker.handle(message)));
