/**
 * Reads what a run left: its output and the statistics, metrics and assets in it or beside it. Text above a megabyte is
 * read in a thread, because reading 100 MB takes about a second, for which nobody else would be answered.
 */
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { FormatType } from '@switchyard/contract/shapes.ts';
import type { Ended, ResultFile } from '@switchyard/runner';
import { messageOf } from '../log.ts';
import type { Mask } from '../secrets/mask.ts';
import { isArchive } from './formats.ts';
import { isFaultOfHost } from './host-faults.ts';
import { tooLarge } from './judge.ts';
import type { ReadAssets } from './read-assets.ts';
import { type JsonSource, nothing, type ReadJson, readJson } from './read-json.ts';
import type { Metrics, Statistics } from './statistics.ts';

const THREAD_BYTES_MIN = 1024 * 1024;

export interface Results {
  /** What is wrong with the output, or empty. */
  error: string;
  /** The file that holds the output; null when there is none. */
  output: ResultFile | null;
  /** Whether stdout is not the output and worth keeping. */
  keepStdout: boolean;
  statistics: Statistics;
  metrics: Metrics;
  assets: ReadAssets;
}

/** What a thread is to read: a path, or the bytes themselves. */
export interface ThreadWork {
  content: string | Uint8Array;
  source: JsonSource;
  secrets: readonly string[];
}

/** JSON in a file, or what brings it. */
type JsonFile = { path: string; bytes: number } | { load(): Promise<Buffer>; bytes: number };

/**
 * Reads JSON of any size; throws when the thread for large ones cannot do it, as with JSON nested too deep. What is large
 * is brought when its turn has come: many that wait would fill the memory.
 */
export async function readJsonOfAnySize(file: JsonFile, source: JsonSource, mask: Mask): Promise<ReadJson> {
  if (file.bytes < THREAD_BYTES_MIN) {
    const content = 'load' in file ? await file.load() : await readFile(file.path);
    return readJson(content.toString('utf8'), source, mask);
  }
  const reading = lastLarge.then(async () =>
    readInThread({
      content: 'load' in file ? await file.load() : file.path,
      source,
      secrets: mask.values,
    }),
  );
  lastLarge = reading.catch(() => {});
  return reading;
}

/** One at a time: what is parsed takes several times its bytes of memory, and many runs can end at once. */
let lastLarge: Promise<unknown> = Promise.resolve();

function readInThread(work: ThreadWork): Promise<ReadJson> {
  const worker = new Worker(new URL('./read-results-thread.ts', import.meta.url), {
    workerData: work,
    // Bytes of this size have a buffer of their own; handing it over saves a copy.
    transferList: typeof work.content === 'string' ? [] : [work.content.buffer as ArrayBuffer],
  });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread that reads it ended')));
  });
}

/**
 * Throws only for a fault of the host, which will pass. Anything else that cannot be read, such as JSON nested deeper than
 * the stack, is no output, and says so. Otherwise the same output would be read again and again, and its run would never
 * end.
 */
export async function readResults(ended: Ended, format: FormatType, mask: Mask): Promise<Results> {
  try {
    return await read(ended, format, mask);
  } catch (error) {
    if (isFaultOfHost(error)) throw error;
    return {
      ...nothing(`The output of the app could not be read: ${messageOf(error)}`),
      output: null,
      keepStdout: ended.stdout.bytes > 0,
    };
  }
}

/** `multi-file` apps write statistics, metrics and assets to files of their own and may print anything. */
async function read(ended: Ended, format: FormatType, mask: Mask): Promise<Results> {
  if (format === 'multi-file') return readFiles(ended, mask);
  const printed = await readJsonOfAnySize(ended.stdout, { kind: 'output', subject: null }, mask);
  const output = isArchive(format) ? (ended.solutions ?? null) : printed.present ? ended.stdout : null;
  return {
    ...printed,
    error: printed.error || (output ? tooLarge(output.bytes) : ''),
    output,
    keepStdout: ended.stdout.bytes > 0 && output !== ended.stdout,
  };
}

async function readFiles(ended: Ended, mask: Mask): Promise<Results> {
  const beside = async (kind: 'statistics' | 'metrics' | 'assets'): Promise<ReadJson> => {
    const file = ended[kind];
    if (!file) return nothing('');
    return readJsonOfAnySize(file, { kind, subject: `The ${kind} file of the app` }, mask);
  };
  const statistics = await beside('statistics');
  const metrics = await beside('metrics');
  const assets = await beside('assets');
  return {
    error: ended.solutions ? tooLarge(ended.solutions.bytes) : '',
    output: ended.solutions ?? null,
    keepStdout: ended.stdout.bytes > 0,
    statistics: withError(statistics),
    metrics: metrics.error === '' ? metrics.metrics : { ...metrics.metrics, error: metrics.error },
    assets: { ...assets.assets, error: assets.error || assets.assets.error },
  };
}

/** Statistics that say why there are none, when their file is not JSON. */
export function withError({ error, statistics }: ReadJson): Statistics {
  return error === '' ? statistics : { ...statistics, status: 'error', error };
}
