/**
 * Computes the results of experiments as JSON. Parsing and statistics of thousands of runs take seconds of processor time,
 * so they run in worker threads and the main thread continues to serve requests.
 */
import { Worker } from 'node:worker_threads';
import PQueue from 'p-queue';
import type { RawObservation } from './batch-analysis.ts';
import { computeResults, createRunReader, type ResultsRequest } from './compute-results.ts';

/** For up to this number of runs, the computation takes less time than the start of a thread. */
const MAIN_THREAD_RUNS_MAX = 8;
const THREADS_MAX = 2;

/** Computes results in at most two worker threads; further computations wait in order of arrival. */
export class ResultsWorkerPool {
  readonly #threads = new PQueue({ concurrency: THREADS_MAX });

  /** Returns the requested results of the runs as JSON. Throws when a worker thread fails. */
  async compute(request: ResultsRequest, runs: AsyncIterable<RawObservation[]>): Promise<string> {
    const batches = runs[Symbol.asyncIterator]();
    const first = await batches.next();
    const second = first.done ? first : await batches.next();
    if (second.done && (first.value?.length ?? 0) <= MAIN_THREAD_RUNS_MAX) {
      const reader = createRunReader(request);
      for (const run of first.value ?? []) reader.add(run);
      return computeResults(request, reader);
    }
    return this.#threads.add(() => computeInThread(request, [first, second], batches));
  }
}

/** Computes the results from the batches that were read already and the remaining ones. */
async function computeInThread(
  request: ResultsRequest,
  firstBatches: readonly IteratorResult<RawObservation[], unknown>[],
  remainingBatches: AsyncIterator<RawObservation[]>,
): Promise<string> {
  const worker = new Worker(new URL('./results-worker.ts', import.meta.url), { workerData: request });
  const failure = new Promise<never>((_, reject) => {
    worker.once('error', reject);
    worker.once('exit', (code) =>
      reject(new Error(`The results worker ended with exit code ${code} before it sent the results.`)),
    );
  });
  // The thread also exits after it sent the results, when nothing awaits this promise any more.
  failure.catch(() => {});
  /** Waits for the confirmation of each batch: all unread batches together can exceed the memory of the machine. */
  const send = (batch: RawObservation[] | null): Promise<string> => {
    const response = new Promise<string>((resolve) => worker.once('message', resolve));
    worker.postMessage(batch);
    return Promise.race([response, failure]);
  };
  try {
    for (const { done, value } of firstBatches) if (!done) await send(value);
    for (let next = await remainingBatches.next(); !next.done; next = await remainingBatches.next())
      await send(next.value);
    return await send(null);
  } finally {
    void worker.terminate();
  }
}
