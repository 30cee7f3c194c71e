/**
 * Reads what a run left: its output and the statistics, metrics and assets in it or beside it. Text above a megabyte is
 * read in a thread, because reading 100 MB takes about a second, for which nobody else would be answered.
 */
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { type FormatType, isArchive } from '@switchyard/contract/schemas/field-schemas.ts';
import type { EndedRun, ResultFile } from '@switchyard/runner';
import { errorMessage } from '../../log.ts';
import type { Mask } from '../../secrets/mask.ts';
import { isHostError } from './host-errors.ts';
import { outputSizeError } from './outcome.ts';
import type { ParsedAssets } from './parse-assets.ts';
import { emptyParsedJson, type JsonSource, type ParsedJson, parseResultJson } from './parse-result-json.ts';
import type { MetricsReport, StatisticsReport } from './statistics-and-metrics.ts';

const THREAD_BYTES_MIN = 1024 * 1024;

export interface RunResults {
  /** What is wrong with the output, or empty. */
  error: string;
  /** The file that holds the output; null when there is none. */
  output: ResultFile | null;
  /** Whether stdout is not the output and worth keeping. */
  keepsStdout: boolean;
  statistics: StatisticsReport;
  metrics: MetricsReport;
  assets: ParsedAssets;
}

/** What a thread is to read: a path, or the bytes themselves. */
export interface ReaderThreadInput {
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
export async function readJsonOfAnySize(file: JsonFile, source: JsonSource, mask: Mask): Promise<ParsedJson> {
  if (file.bytes < THREAD_BYTES_MIN) {
    const content = 'load' in file ? await file.load() : await readFile(file.path);
    return parseResultJson(content.toString('utf8'), source, mask);
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

function readInThread(work: ReaderThreadInput): Promise<ParsedJson> {
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
export async function readResults(ended: EndedRun, format: FormatType, mask: Mask): Promise<RunResults> {
  try {
    return await read(ended, format, mask);
  } catch (error) {
    if (isHostError(error)) throw error;
    return {
      ...emptyParsedJson(`The output of the app could not be read: ${errorMessage(error)}`),
      output: null,
      keepsStdout: ended.stdout.bytes > 0,
    };
  }
}

/** `multi-file` apps write statistics, metrics and assets to files of their own and may print anything. */
async function read(ended: EndedRun, format: FormatType, mask: Mask): Promise<RunResults> {
  if (format === 'multi-file') return readFiles(ended, mask);
  const printed = await readJsonOfAnySize(ended.stdout, { kind: 'output', subject: null }, mask);
  const output = isArchive(format) ? (ended.solutions ?? null) : printed.isPresent ? ended.stdout : null;
  return {
    ...printed,
    error: printed.error || (output ? outputSizeError(output.bytes) : ''),
    output,
    keepsStdout: ended.stdout.bytes > 0 && output !== ended.stdout,
  };
}

async function readFiles(ended: EndedRun, mask: Mask): Promise<RunResults> {
  const beside = async (kind: 'statistics' | 'metrics' | 'assets'): Promise<ParsedJson> => {
    const file = ended[kind];
    if (!file) return emptyParsedJson('');
    return readJsonOfAnySize(file, { kind, subject: `The ${kind} file of the app` }, mask);
  };
  const statistics = await beside('statistics');
  const metrics = await beside('metrics');
  const assets = await beside('assets');
  return {
    error: ended.solutions ? outputSizeError(ended.solutions.bytes) : '',
    output: ended.solutions ?? null,
    keepsStdout: ended.stdout.bytes > 0,
    statistics: addParseError(statistics),
    metrics: metrics.error === '' ? metrics.metrics : { ...metrics.metrics, error: metrics.error },
    assets: { ...assets.assets, error: assets.error || assets.assets.error },
  };
}

/** Statistics that say why there are none, when their file is not JSON. */
export function addParseError({ error, statistics }: ParsedJson): StatisticsReport {
  return error === '' ? statistics : { ...statistics, status: 'error', error };
}
