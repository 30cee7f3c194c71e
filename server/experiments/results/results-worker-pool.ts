/**
 * Computes the results of experiments. Parsing and statistics of thousands of runs take seconds of processor time,
 * so they run in worker threads and the main thread continues to serve requests. A thread that has ended a computation
 * waits for the next one, because its start takes 0.2 s of a core, most of it to load the statistics.
 *
 * Invariants: an idle thread keeps no process alive, and ends after IDLE_MS, because its heap keeps the size of the largest
 * computation. A thread that failed is never used again.
 */
import { Worker } from 'node:worker_threads';
import PQueue from 'p-queue';
import {
  type ComputedResults,
  computeResults,
  createRunReader,
  type ResultsRequest,
} from './compute-results.ts';
import { rateStoredResults } from './rate-stored-results.ts';
import type { ResultsMessage, ResultsResponse } from './results-worker.ts';
import type { RawObservation } from './run-reader.ts';

/** For up to this number of runs, the computation takes less time than the start of a thread. */
const MAIN_THREAD_RUNS_MAX = 8;
/** Shorter results are parsed in less time than another thread answers. */
const MAIN_THREAD_CHARS_MAX = 256 * 1024;
const THREADS_MAX = 2;
const IDLE_MS = 30_000;

/** Computes results in at most two worker threads; further computations wait in order of arrival. */
export class ResultsWorkerPool {
  readonly #mainThreadRunsMax: number;
  readonly #computations = new PQueue({ concurrency: THREADS_MAX });
  readonly #idleThreads: ResultsThread[] = [];

  /** The computations of up to so many runs use no thread. */
  constructor({ mainThreadRunsMax = MAIN_THREAD_RUNS_MAX } = {}) {
    this.#mainThreadRunsMax = mainThreadRunsMax;
  }

  /** Returns the requested results of the runs. Throws when a worker thread fails. */
  async compute(request: ResultsRequest, runs: AsyncIterable<RawObservation[]>): Promise<ComputedResults> {
    const batches = runs[Symbol.asyncIterator]();
    const first: RawObservation[] = [];
    for (let next = await batches.next(); !next.done; next = await batches.next()) {
      first.push(...next.value);
      if (first.length > this.#mainThreadRunsMax)
        return this.#computations.add(() => this.#computeInThread(request, first, batches));
    }
    const reader = createRunReader(request);
    for (const run of first) reader.add(run);
    return computeResults(request, reader);
  }

  /** Returns the verdict of stored results, in JSON. Those of a batch of 10,000 runs have tens of megabytes. */
  async rate(results: string): Promise<string> {
    if (results.length <= MAIN_THREAD_CHARS_MAX) return rateStoredResults(results);
    return this.#computations.add(async () => {
      const thread = this.#acquireThread();
      try {
        const rated = await thread.send({ kind: 'rate', results });
        if (rated === null) throw new Error('The results worker sent no verdict.');
        return rated.json;
      } finally {
        this.#releaseThread(thread);
      }
    });
  }

  /** Computes the results from the runs that were read already and the remaining batches. */
  async #computeInThread(
    request: ResultsRequest,
    first: RawObservation[],
    remainingBatches: AsyncIterator<RawObservation[]>,
  ): Promise<ComputedResults> {
    const thread = this.#acquireThread();
    try {
      await thread.send({ kind: 'request', request });
      // Waits for the confirmation of each batch: all unread batches together can exceed the memory of the machine.
      await thread.send({ kind: 'runs', runs: first });
      for (let next = await remainingBatches.next(); !next.done; next = await remainingBatches.next())
        await thread.send({ kind: 'runs', runs: next.value });
      const results = await thread.send({ kind: 'end' });
      if (results === null) throw new Error('The results worker ended a computation without results.');
      return results;
    } finally {
      this.#releaseThread(thread);
    }
  }

  #acquireThread(): ResultsThread {
    for (let thread = this.#idleThreads.pop(); thread; thread = this.#idleThreads.pop()) {
      thread.resume();
      if (thread.isUsable) return thread;
    }
    return new ResultsThread();
  }

  #releaseThread(thread: ResultsThread): void {
    if (!thread.isUsable) return;
    this.#idleThreads.push(thread);
    thread.wait(() => this.#idleThreads.splice(this.#idleThreads.indexOf(thread), 1));
  }
}

/** A thread that has one message under way at most. */
class ResultsThread {
  readonly #worker = new Worker(new URL('./results-worker.ts', import.meta.url));
  readonly #failure = Promise.withResolvers<never>();
  #idleTimer: NodeJS.Timeout | undefined;
  isUsable = true;

  constructor() {
    // The thread also ends when it is idle, and nothing awaits this promise.
    this.#failure.promise.catch(() => {});
    this.#worker.once('error', (error) => this.#fail(error));
    this.#worker.once('exit', (code) =>
      this.#fail(new Error(`The results worker ended with exit code ${code} before it sent the results.`)),
    );
  }

  /** Sends a message and returns its response. Throws when the thread fails. */
  async send(message: ResultsMessage): Promise<ResultsResponse> {
    const response = Promise.withResolvers<ResultsResponse>();
    this.#worker.once('message', response.resolve);
    this.#worker.postMessage(message);
    return Promise.race([response.promise, this.#failure.promise]);
  }

  /** Waits for the next computation. Calls `onEnd` and ends when none has come. */
  wait(onEnd: () => void): void {
    this.#worker.unref();
    this.#idleTimer = setTimeout(() => {
      onEnd();
      void this.#worker.terminate();
    }, IDLE_MS).unref();
  }

  resume(): void {
    clearTimeout(this.#idleTimer);
    this.#worker.ref();
  }

  #fail(error: unknown): void {
    this.isUsable = false;
    this.#failure.reject(error);
  }
}
