/**
 * What came out of experiments, so far or in the end, as JSON. Looking at thousands of runs takes seconds, so it is done in
 * a thread, two at a time; what was found while an experiment goes on is kept until its runs say something else.
 */
import { Worker } from 'node:worker_threads';
import type { RawObservation } from './batch-analysis.ts';
import { computeResults as answerTo, createRunReader, type ResultsRequest } from './compute-results.ts';

/** Up to here it takes less than starting a thread. */
const RUNS_AT_ONCE_MAX = 8;
const THREADS_MAX = 2;
const KEPT_MAX = 16;

/** The answer to the question about the runs, in JSON. */
export async function computeInWorkerPool(
  question: ResultsRequest,
  runs: AsyncIterable<RawObservation[]>,
): Promise<string> {
  const parts = runs[Symbol.asyncIterator]();
  const first = await parts.next();
  const second = first.done ? first : await parts.next();
  if (second.done && (first.value?.length ?? 0) <= RUNS_AT_ONCE_MAX) {
    const reader = createRunReader(question);
    for (const run of first.value ?? []) reader.add(run);
    return answerTo(question, reader);
  }
  const release = await turn();
  try {
    return await computeInThread(question, [first, second], parts);
  } finally {
    release();
  }
}

async function computeInThread(
  question: ResultsRequest,
  begun: readonly IteratorResult<RawObservation[], unknown>[],
  rest: AsyncIterator<RawObservation[]>,
): Promise<string> {
  const worker = new Worker(new URL('./results-worker.ts', import.meta.url), { workerData: question });
  const gone = new Promise<never>((_, reject) => {
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('The thread that looks at runs ended.')));
  });
  // It ends after its answer, too.
  gone.catch(() => {});
  /** Sends a part and waits until it was read: parts that wait in memory could be more than the machine has. */
  const tell = (part: RawObservation[] | null): Promise<string> => {
    const heard = new Promise<string>((resolve) => worker.once('message', resolve));
    worker.postMessage(part);
    return Promise.race([heard, gone]);
  };
  try {
    for (const { done, value } of begun) if (!done) await tell(value);
    for (let next = await rest.next(); !next.done; next = await rest.next()) await tell(next.value);
    return await tell(null);
  } finally {
    void worker.terminate();
  }
}

let busy = 0;
const waiting: (() => void)[] = [];

/** Waits for a turn; answers how to give it to the next. */
async function turn(): Promise<() => void> {
  if (busy >= THREADS_MAX) await new Promise<void>((resolve) => waiting.push(resolve));
  else busy += 1;
  return () => {
    const next = waiting.shift();
    if (next) next();
    else busy -= 1;
  };
}

/** Findings of experiments that go on, by what their runs had come to; those asked for longest ago are forgotten first. */
export class ResultsCache {
  readonly #kept = new Map<string, { key: string; findings: Promise<string> }>();

  /** What was found for the key, or what `find` finds now; asked for twice at once it is looked for once. */
  getOrCompute(experimentUid: string, key: string, find: () => Promise<string>): Promise<string> {
    const known = this.#kept.get(experimentUid);
    this.#kept.delete(experimentUid);
    const entry = known?.key === key ? known : { key, findings: find() };
    this.#kept.set(experimentUid, entry);
    if (this.#kept.size > KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value ?? '');
    if (entry !== known)
      entry.findings.catch(() => {
        if (this.#kept.get(experimentUid) === entry) this.#kept.delete(experimentUid);
      });
    return entry.findings;
  }

  evict(experimentUid: string): void {
    this.#kept.delete(experimentUid);
  }
}
