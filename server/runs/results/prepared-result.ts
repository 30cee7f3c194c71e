/**
 * The end of a run: its results become contents, its status follows the transition table, the event row stands beside it;
 * one transaction, which does nothing when somebody else has the run by now.
 */
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { ERROR_CHARS_MAX, OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { EndedRun, ResultFile } from '@switchyard/runner';
import type { Contents, PreparedContent } from '../../blobs/contents.ts';
import type { Clock } from '../../clock.ts';
import type { Database, Writer } from '../../database/database.ts';
import type { Random } from '../../random.ts';
import type { Mask } from '../../secrets/mask.ts';
import type { LogWriter } from '../logs/log-writer.ts';
import { insertAssets, type PreparedAsset } from '../store/assets.ts';
import type { RunsTable } from '../store/schema.ts';
import { endRunningRun, type FinalColumns } from '../store/transitions.ts';
import { findNetworkHint } from './network-hint.ts';
import { computeOutcome, type RunOutcome } from './outcome.ts';
import type { ParsedAssets } from './parse-assets.ts';
import { prepareAssets } from './prepare-assets.ts';
import { readResults } from './read-results.ts';
import { type MetricsReport, mergeReports, type StatisticsReport } from './statistics-and-metrics.ts';

const SMALL_BYTES_MAX = 64 * 1024;
/** Of what an app printed beside its output the end is kept, where the reason of a failure stands. */
const STDOUT_BYTES_MAX = 64 * 1024;
/** Why an app gave up is among its last lines. */
const STDERR_BYTES_MAX = 16 * 1024;

/** What is to be written of an ended run. Its contents lie ready, so that the writing can be tried again. */
export interface PreparedResult {
  finalColumns: FinalColumns;
  contents: PreparedContent[];
  assets: PreparedAsset[];
}

/** Judges the run and makes contents of what it left. Its output is the app's own; in all else its secrets are hidden. */
export async function prepareRunResult(
  parts: { contents: Contents; clock: Clock; random: Random },
  run: RunsTable,
  ended: EndedRun,
  { lines, mask }: { lines: LogWriter; mask: Mask },
): Promise<PreparedResult> {
  const { contents, clock } = parts;
  const results = await readResults(ended, run.output_format, mask);
  const verdict = await hinted(computeOutcome(ended, results.error), run, ended, mask);
  const keepsOutput = results.output !== null && results.error === '' && verdict.status !== 'failed';
  const stdoutLeft = ended.stdout.bytes > 0 && (results.keepsStdout || !keepsOutput);
  const prepared: PreparedContent[] = [];
  const keep = async (content: Promise<PreparedContent | null> | null): Promise<PreparedContent | null> => {
    const one = await content;
    if (one) prepared.push(one);
    return one;
  };
  try {
    const output = await keep(
      keepsOutput && results.output ? prepareFile(contents, results.output, OUTPUT_BYTES_MAX) : null,
    );
    const stdout = await keep(
      stdoutLeft ? contents.prepare(await tail(ended.stdout, STDOUT_BYTES_MAX, mask)) : null,
    );
    const kept = await keep(
      run.output_format === 'multi-file'
        ? contents.prepare(Buffer.from(await lines.readText()))
        : prepareLog(contents, ended, mask),
    );
    const keepsAssets = verdict.status !== 'failed' && results.error === '';
    const keptAssets = keepsAssets ? results.assets.assets : [];
    const assets = await prepareAssets(parts, keptAssets, clock.now(), prepared);
    const ending: FinalColumns = {
      status: verdict.status,
      error: withoutNul(mask.maskText(verdict.error)).slice(0, ERROR_CHARS_MAX),
      initiated_at: Math.floor(ended.startedAt),
      finished_at: Math.max(clock.now(), run.created_at),
      execution_ms: ended.executionMs,
      output_content_id: output?.id ?? null,
      output_bytes: output?.bytes ?? 0,
      stdout_content_id: stdout?.id ?? null,
      log_content_id: kept?.id ?? null,
      ...buildReportColumns(results, mask),
      containment: ended.containment,
      limits: run.limits,
      runtime_version: run.runtime_version,
      peak_memory_bytes: ended.peakMemoryBytes ?? null,
    };
    return { finalColumns: ending, contents: prepared, assets };
  } catch (error) {
    await discardContents(prepared);
    throw error;
  }
}

/** Adds to the error of a run without network what its log says about that. */
async function hinted(
  verdict: RunOutcome,
  run: Pick<RunsTable, 'network'>,
  ended: EndedRun,
  mask: Mask,
): Promise<RunOutcome> {
  const hadNetwork = run.network === 1 || ended.containment !== 'sandbox';
  if (verdict.status !== 'failed' || hadNetwork || ended.stderr.bytes === 0) return verdict;
  const hint = findNetworkHint((await tail(ended.stderr, STDERR_BYTES_MAX, mask)).toString('utf8'));
  return hint === '' ? verdict : { ...verdict, error: `${verdict.error} ${hint}` };
}

/** What a run reported, as its row keeps it. */
export function buildReportColumns(
  reported: { statistics: StatisticsReport; metrics: MetricsReport; assets: ParsedAssets },
  mask: Mask,
) {
  const { statistics, metrics, assets } = reported;
  const { statistics: merged, metricsError } = mergeReports(statistics, metrics);
  return {
    statistics_status: merged.status,
    statistics_error: withoutNul(mask.maskText(merged.error)),
    indicators: JSON.stringify(merged.indicators),
    statistics: statistics.block,
    metrics: metrics.block,
    metrics_error: metricsError === null ? null : withoutNul(mask.maskText(metricsError)),
    assets_error: withoutNul(mask.maskText(assets.error)).slice(0, ERROR_CHARS_MAX) || null,
  } satisfies Partial<RunsTable>;
}

/** Writes the end; false when the fence is stale. May be called again after it threw. */
export async function storeRunResult(
  database: Database,
  run: RunsTable,
  end: PreparedResult,
  log: LogWriter,
): Promise<boolean> {
  await log.waitForWrites();
  return database.transact(async (tx) => {
    if (!(await endRunningRun(tx, run, end.finalColumns))) return false;
    await insertResultContents(tx, run.id, end);
    await log.flush(tx);
    return true;
  });
}

/** Writes what a run left, in the transaction that ends it. */
export async function insertResultContents(tx: Writer, run: RunId, end: PreparedResult): Promise<void> {
  for (const content of end.contents) await content.insert(tx);
  await insertAssets(tx, run, end.assets);
}

/** Removes contents that nobody will ask for; those that a row names after all stay. */
export async function discardContents(contents: readonly PreparedContent[]): Promise<void> {
  for (const content of contents) await content.discard().catch(() => {});
}

/** An app can print anything, and text columns of PostgreSQL cannot hold a NUL. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', '\u{fffd}');
}

async function prepareFile(contents: Contents, file: ResultFile, bytesMax: number): Promise<PreparedContent> {
  if (file.bytes <= SMALL_BYTES_MAX) return contents.prepare(await readFile(file.path));
  return contents.prepareStream(createReadStream(file.path), bytesMax);
}

async function prepareLog(
  contents: Contents,
  { stderr, isLogTruncated: logCut }: EndedRun,
  mask: Mask,
): Promise<PreparedContent | null> {
  if (stderr.bytes === 0) return null;
  if (mask.isEmpty) return prepareFile(contents, stderr, Number.MAX_SAFE_INTEGER);
  const hidden = mask.maskStream(createReadStream(stderr.path), logCut);
  return contents.prepareStream(Readable.from(hidden, { objectMode: false }), Number.MAX_SAFE_INTEGER);
}

/** The end of a file, with some of what comes before it read too, where a secret may begin that reaches into it. */
async function tail(file: ResultFile, bytesMax: number, mask: Mask): Promise<Buffer> {
  const from = Math.max(0, file.bytes - bytesMax);
  const before = Math.min(from, mask.longestSecretBytes);
  const handle = await open(file.path, 'r');
  try {
    const bytes = Buffer.alloc(before + Math.min(file.bytes, bytesMax));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from - before);
    return mask.maskTail(bytes.subarray(0, bytesRead), before);
  } finally {
    await handle.close();
  }
}
