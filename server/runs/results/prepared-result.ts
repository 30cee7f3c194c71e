/**
 * Prepares the result of a run and stores it. The contents are written first; one transaction then inserts the rows of the
 * contents, the new status and its event. It changes nothing when another worker has the lease by then.
 */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { formatExactJson, parseExactJson } from '@switchyard/contract/exact-json.ts';
import { ERROR_CHARS_MAX, OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { findMainSolve } from '@switchyard/contract/runs/presentation/describe-solve.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { EndedRun, ResultFile } from '@switchyard/runner';
import type { LogEnd } from '@switchyard/worker/log/log-batch.ts';
import type { Mask } from '@switchyard/worker/log/mask.ts';
import type { JsonReader } from '@switchyard/worker/results/json-reader.ts';
import { replaceNul } from '@switchyard/worker/results/json-values.ts';
import { addNetworkHint, computeOutcome } from '@switchyard/worker/results/outcome.ts';
import type { ParsedAssets } from '@switchyard/worker/results/parse-assets.ts';
import { readMaskedEnd } from '@switchyard/worker/results/read-masked-end.ts';
import { readResults } from '@switchyard/worker/results/read-results.ts';
import {
  type MetricsReport,
  mergeReports,
  type ReportedIndicator,
  type StatisticsReport,
} from '@switchyard/worker/results/statistics-and-metrics.ts';
import type { Contents, PreparedContent } from '../../platform/blobs/contents.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import type { Random } from '../../platform/random.ts';
import { storeLineTimes, storeLogEnd, streamLogText } from '../logs/log-batches.ts';
import { insertAssets, type PreparedAsset } from '../store/assets.ts';
import type { RunsTable } from '../store/schema.ts';
import { endRunningRun, type FinalColumns } from '../store/transitions.ts';
import { isHostError } from './host-errors.ts';
import { prepareAssets } from './prepare-assets.ts';

/** A file up to this size is read into memory; a larger one is streamed. */
const BUFFERED_FILE_BYTES_MAX = 64 * 1024;
/** Only the end of stdout is stored when it is not the output, because an app prints the reason of a failure last. */
const STDOUT_BYTES_MAX = 64 * 1024;

interface PrepareParts {
  database: Database;
  contents: Contents;
  clock: Clock;
  random: Random;
  jsonReader: JsonReader;
}

/** The result of an ended run. Its contents are already written, so a failed transaction can be retried. */
export interface PreparedResult {
  finalColumns: FinalColumns;
  contents: PreparedContent[];
  assets: PreparedAsset[];
}

/** Computes the outcome and writes the contents of the result. Masks the secrets of the app everywhere but in its output. */
export async function prepareRunResult(
  parts: PrepareParts,
  run: RunsTable,
  ended: EndedRun,
  { lines, mask }: { lines: LogEnd; mask: Mask },
): Promise<PreparedResult> {
  const { contents, clock } = parts;
  const results = await readResults(
    { reader: parts.jsonReader, isHostError },
    ended,
    run.output_format,
    mask,
  );
  const network = run.network === 1;
  const outcome = await addNetworkHint(computeOutcome(ended, results.error), ended, { network, mask });
  // An app that is stopped after its time has printed its best solution, as one that is canceled.
  const isStopped = outcome.status === 'canceled' || ended.reason === 'duration';
  const hasValidResults = results.error === '' && (isStopped || outcome.status !== 'failed');
  const outputFile = hasValidResults ? results.output : null;
  const storesStdout = ended.stdout.bytes > 0 && (results.keepsStdout || outputFile === null);
  const prepared: PreparedContent[] = [];
  const collect = async (
    preparation: Promise<PreparedContent | null> | null,
  ): Promise<PreparedContent | null> => {
    const content = await preparation;
    if (content) prepared.push(content);
    return content;
  };
  try {
    const output = await collect(outputFile && prepareFile(contents, outputFile, OUTPUT_BYTES_MAX));
    const stdout = await collect(
      storesStdout ? contents.prepare(await readMaskedEnd(ended.stdout, STDOUT_BYTES_MAX, mask)) : null,
    );
    const log = await collect(
      run.output_format === 'multi-file'
        ? contents.prepareText(streamLogText(parts.database.read, run, lines))
        : prepareLog(contents, ended, mask),
    );
    const hint =
      ended.reason === 'duration' && output !== null ? ' The output that it had printed is stored.' : '';
    const parsedAssets = hasValidResults ? results.assets.assets : [];
    const assets = await prepareAssets(parts, parsedAssets, clock.now(), prepared);
    const finalColumns: FinalColumns = {
      status: outcome.status,
      error: replaceNul(mask.maskText(`${outcome.error}${hint}`)).slice(0, ERROR_CHARS_MAX),
      initiated_at: Math.floor(ended.startedAt),
      finished_at: Math.max(clock.now(), run.created_at),
      execution_ms: ended.executionMs,
      output_content_id: output?.id ?? null,
      output_bytes: output?.bytes ?? 0,
      stdout_content_id: stdout?.id ?? null,
      log_content_id: log?.id ?? null,
      ...buildReportColumns(results, mask, findSolverStatus(lines)),
      containment: ended.containment,
      limits: run.limits,
      runtime_version: run.runtime_version,
      start_conditions: run.start_conditions,
      peak_memory_bytes: ended.peakMemoryBytes ?? null,
    };
    return { finalColumns, contents: prepared, assets };
  } catch (error) {
    await discardContents(prepared);
    throw error;
  }
}

/** Returns the columns of the run for its statistics, metrics and assets, with secrets masked in the error messages. */
export function buildReportColumns(
  reported: { statistics: StatisticsReport; metrics: MetricsReport; assets: ParsedAssets },
  mask: Mask,
  solverStatus: string | null = null,
) {
  const { statistics, metrics, assets } = reported;
  const { statistics: merged, metricsError } = mergeReports(statistics, metrics, solverStatus);
  return {
    statistics_status: merged.status,
    statistics_error: replaceNul(mask.maskText(merged.error)),
    indicators: formatIndicators(merged.indicators),
    statistics: statistics.block,
    metrics: metrics.block,
    metrics_error: metricsError === null ? null : replaceNul(mask.maskText(metricsError)),
    assets_error: replaceNul(mask.maskText(assets.error)).slice(0, ERROR_CHARS_MAX) || null,
  } satisfies Partial<RunsTable>;
}

/** Returns the indicators as JSON, in which a number has all its digits. */
function formatIndicators(indicators: readonly ReportedIndicator[]): string {
  const exact = indicators.map(({ digits, ...indicator }) =>
    digits === undefined ? indicator : { ...indicator, ...Object(parseExactJson(`{"value":${digits}}`)) },
  );
  return formatExactJson(exact);
}

/** Returns the status of the main solve; the last write of a log has all solves. */
function findSolverStatus({ batches }: LogEnd): string | null {
  return findMainSolve(batches.at(-1)?.series.addition?.part.solves ?? [])?.status ?? null;
}

/** Stores the result; returns false when the fencing token is stale. After an error it may be called again. */
export async function storeRunResult(
  database: Database,
  run: RunsTable,
  result: PreparedResult,
  log: LogEnd,
): Promise<boolean> {
  return database.transact(async (tx) => {
    if (!(await endRunningRun(tx, run, result.finalColumns))) return false;
    await insertResultContents(tx, run.id, result);
    await storeLogEnd(tx, run, log);
    if (result.finalColumns.log_content_id !== null) await storeLineTimes(tx, run.id, log);
    return true;
  });
}

/** Inserts the rows of the contents and assets, in the transaction that ends the run. */
export async function insertResultContents(tx: Writer, run: RunId, result: PreparedResult): Promise<void> {
  for (const content of result.contents) await content.insert(tx);
  await insertAssets(tx, run, result.assets);
}

/** Discards prepared contents; never throws, and never removes a content that a row refers to. */
export async function discardContents(contents: readonly PreparedContent[]): Promise<void> {
  for (const content of contents) await content.discard().catch(() => {});
}

async function prepareFile(contents: Contents, file: ResultFile, bytesMax: number): Promise<PreparedContent> {
  if (file.bytes <= BUFFERED_FILE_BYTES_MAX) return contents.prepare(await readFile(file.path));
  return contents.prepareStream(createReadStream(file.path), bytesMax);
}

async function prepareLog(
  contents: Contents,
  { stderr, isLogTruncated }: EndedRun,
  mask: Mask,
): Promise<PreparedContent | null> {
  if (stderr.bytes === 0) return null;
  if (mask.isEmpty) return prepareFile(contents, stderr, Number.MAX_SAFE_INTEGER);
  const masked = mask.maskStream(createReadStream(stderr.path), isLogTruncated);
  return contents.prepareStream(Readable.from(masked, { objectMode: false }), Number.MAX_SAFE_INTEGER);
}
