/**
 * Reads the results of an app: its output, and the statistics, metrics and assets in it or in files of their own. A thread
 * reads JSON above 1 MiB, because 100 MB take about a second, during which the server could respond to nobody.
 */
import { type FormatType, isArchive } from '@switchyard/contract/schemas/field-schemas.ts';
import type { EndedRun, ResultFile } from '@switchyard/runner';
import { getErrorMessage } from '@switchyard/runner/process/errors.ts';
import type { Mask } from '../log/mask.ts';
import type { JsonReader } from './json-reader.ts';
import { outputSizeError } from './outcome.ts';
import type { ParsedAssets } from './parse-assets.ts';
import { emptyParsedJson, type ParsedJson } from './parse-result-json.ts';
import type { MetricsReport, StatisticsReport } from './statistics-and-metrics.ts';

export interface RunResults {
  /** The error message about the output; empty for a valid one. */
  error: string;
  /** The file that holds the output; null when there is none. */
  output: ResultFile | null;
  /** True if stdout has text that is not the output. */
  keepsStdout: boolean;
  statistics: StatisticsReport;
  metrics: MetricsReport;
  assets: ParsedAssets;
}

/** The parts of a process that read results. */
export interface ReadParts {
  reader: JsonReader;
  /** Returns true for an error of the host or of a service behind it, after which another attempt may succeed. */
  isHostError(error: unknown): boolean;
}

/**
 * Reads the results of an ended app; throws only for a fault of the host, so that the caller retries. Any other unreadable
 * output, such as JSON nested deeper than the stack, becomes the error of the run: retries could never end that run.
 */
export async function readResults(
  { reader, isHostError }: ReadParts,
  ended: EndedRun,
  format: FormatType,
  mask: Mask,
): Promise<RunResults> {
  try {
    return format === 'multi-file'
      ? await readFiles(reader, ended, mask)
      : await readStdout(reader, ended, format, mask);
  } catch (error) {
    if (isHostError(error)) throw error;
    return {
      ...emptyParsedJson(`The output of the app could not be read: ${getErrorMessage(error)}`),
      output: null,
      keepsStdout: ended.stdout.bytes > 0,
    };
  }
}

/** Reads the blocks from stdout. The output is stdout, or the archive of an app whose format is one. */
async function readStdout(
  reader: JsonReader,
  ended: EndedRun,
  format: FormatType,
  mask: Mask,
): Promise<RunResults> {
  const printed = await reader.read(ended.stdout, { kind: 'output', subject: null }, mask);
  const output = isArchive(format) ? (ended.solutions ?? null) : printed.isPresent ? ended.stdout : null;
  return {
    ...printed,
    error: printed.error || (output ? outputSizeError(output.bytes) : ''),
    output,
    keepsStdout: ended.stdout.bytes > 0 && output !== ended.stdout,
  };
}

/** Reads the files of a `multi-file` app, which may print anything. */
async function readFiles(reader: JsonReader, ended: EndedRun, mask: Mask): Promise<RunResults> {
  const readBlockFile = async (kind: 'statistics' | 'metrics' | 'assets'): Promise<ParsedJson> => {
    const file = ended[kind];
    if (!file) return emptyParsedJson('');
    return reader.read(file, { kind, subject: `The ${kind} file of the app` }, mask);
  };
  const statistics = await readBlockFile('statistics');
  const metrics = await readBlockFile('metrics');
  const assets = await readBlockFile('assets');
  return {
    error: ended.solutions ? outputSizeError(ended.solutions.bytes) : '',
    output: ended.solutions ?? null,
    keepsStdout: ended.stdout.bytes > 0,
    statistics: addParseError(statistics),
    metrics: metrics.error === '' ? metrics.metrics : { ...metrics.metrics, error: metrics.error },
    assets: { ...assets.assets, error: assets.error || assets.assets.error },
  };
}

/** Returns the statistics, with the error of their file when that is not JSON. */
export function addParseError({ error, statistics }: ParsedJson): StatisticsReport {
  return error === '' ? statistics : { ...statistics, status: 'error', error };
}
