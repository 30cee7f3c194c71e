/**
 * Reads what an app left: its output and the statistics and metrics in it. Text above a megabyte is parsed in a thread,
 * because parsing 100 MB takes about a second, for which nobody else would be answered.
 */
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { FormatType } from '@switchyard/contract/shapes.ts';
import type { Ended, ResultFile } from '@switchyard/runner';
import type { Mask } from '../secrets/mask.ts';
import { isArchive } from './formats.ts';
import { type ReadOutput, readOutput, readStatistics, type Statistics, tooLarge } from './judge.ts';

const THREAD_BYTES_MIN = 1024 * 1024;
const METRICS_BYTES_MAX = 1024 * 1024;

export interface Results {
  /** What is wrong with the output, or empty. */
  error: string;
  /** The file that holds the output; null when there is none. */
  output: ResultFile | null;
  /** Whether stdout is not the output and worth keeping. */
  keepStdout: boolean;
  statistics: Statistics;
  /** In JSON, or null. */
  metrics: string | null;
}

/** What the thread answers: the parts that matter, small. */
export interface ReadSummary extends Omit<ReadOutput, 'statistics' | 'metrics'> {
  statistics: Statistics;
  metrics: string | null;
}

export function summarizeOutput(text: string, mask: Mask): ReadSummary {
  const read = readOutput(text, mask);
  return {
    error: read.error,
    present: read.present,
    statistics: readStatistics(read.statistics),
    metrics: keepMetrics(read.metrics),
  };
}

function keepMetrics(metrics: unknown): string | null {
  if (typeof metrics !== 'object' || metrics === null || Array.isArray(metrics)) return null;
  const text = JSON.stringify(metrics);
  return text.length > METRICS_BYTES_MAX ? null : text;
}

async function readJsonFile(file: ResultFile, mask: Mask): Promise<ReadSummary> {
  if (file.bytes < THREAD_BYTES_MIN) return summarizeOutput(await readFile(file.path, 'utf8'), mask);
  const before = lastLarge;
  const reading = before.then(() => readInThread(file, mask));
  lastLarge = reading.catch(() => {});
  return reading;
}

/** One at a time: a parsed output takes several times its bytes of memory, and many runs can end at once. */
let lastLarge: Promise<unknown> = Promise.resolve();

function readInThread(file: ResultFile, mask: Mask): Promise<ReadSummary> {
  const worker = new Worker(new URL('./read-results-thread.ts', import.meta.url), {
    workerData: { path: file.path, secrets: mask.values },
  });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread that reads it ended')));
  });
}

/**
 * Never throws: what cannot be read, such as JSON nested deeper than the stack, is no output, and says so. Otherwise the
 * same output would be read again and again, and its run would never end.
 */
export async function readResults(ended: Ended, format: FormatType, mask: Mask): Promise<Results> {
  try {
    return await read(ended, format, mask);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      error: `The output of the app could not be read: ${why}`,
      output: null,
      keepStdout: ended.stdout.bytes > 0,
      statistics: readStatistics(undefined),
      metrics: null,
    };
  }
}

/** `multi-file` apps write statistics and metrics to files of their own and may print anything. */
async function read(ended: Ended, format: FormatType, mask: Mask): Promise<Results> {
  if (format === 'multi-file') return readFiles(ended, mask);
  const printed = await readJsonFile(ended.stdout, mask);
  const output = isArchive(format) ? (ended.solutions ?? null) : printed.present ? ended.stdout : null;
  return {
    error: printed.error || (output ? tooLarge(output.bytes) : ''),
    output,
    keepStdout: ended.stdout.bytes > 0 && output !== ended.stdout,
    statistics: printed.statistics,
    metrics: printed.metrics,
  };
}

async function readFiles(ended: Ended, mask: Mask): Promise<Results> {
  const statistics = ended.statistics ? await readJsonFile(ended.statistics, mask) : null;
  const metrics = ended.metrics ? await readJsonFile(ended.metrics, mask) : null;
  return {
    error: ended.solutions ? tooLarge(ended.solutions.bytes) : '',
    output: ended.solutions ?? null,
    keepStdout: ended.stdout.bytes > 0,
    statistics:
      statistics && !statistics.error
        ? statistics.statistics
        : {
            ...readStatistics(undefined),
            ...(statistics ? { status: 'error' as const, error: statistics.error } : {}),
          },
    metrics: metrics?.metrics ?? statistics?.metrics ?? null,
  };
}
