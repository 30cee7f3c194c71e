/**
 * The end of a run: its results become contents, its status follows the transition table, the event row stands beside it;
 * one transaction, which does nothing when somebody else has the run by now.
 */
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { RunId } from '@switchyard/contract/ids.ts';
import { ERROR_CHARS_MAX, OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { Ended, ResultFile } from '@switchyard/runner';
import type { Contents, PreparedContent } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import type { Random } from '../random.ts';
import type { Mask } from '../secrets/mask.ts';
import { insertAssets, type PreparedAsset, prepareAssets } from './assets.ts';
import { judge, type Verdict } from './judge.ts';
import type { LogWriter } from './log-writer.ts';
import { type Ending, endRunning } from './moves.ts';
import { networkHint } from './network-hint.ts';
import type { ReadAssets } from './read-assets.ts';
import { readResults } from './read-results.ts';
import type { RunsTable } from './schema.ts';
import { type Metrics, mergeReports, type Statistics } from './statistics.ts';

const SMALL_BYTES_MAX = 64 * 1024;
/** Of what an app printed beside its output the end is kept, where the reason of a failure stands. */
const STDOUT_KEPT_BYTES = 64 * 1024;
/** Why an app gave up is among its last lines. */
const STDERR_READ_BYTES = 16 * 1024;

/** What is to be written of an ended run. Its contents lie ready, so that the writing can be tried again. */
export interface PreparedEnd {
  ending: Ending;
  contents: PreparedContent[];
  assets: PreparedAsset[];
}

/** Judges the run and makes contents of what it left. Its output is the app's own; in all else its secrets are hidden. */
export async function prepareEnd(
  parts: { contents: Contents; clock: Clock; random: Random },
  run: RunsTable,
  ended: Ended,
  { lines, mask }: { lines: LogWriter; mask: Mask },
): Promise<PreparedEnd> {
  const { contents, clock } = parts;
  const results = await readResults(ended, run.output_format, mask);
  const verdict = await hinted(judge(ended, results.error), run, ended, mask);
  const keepsOutput = results.output !== null && results.error === '' && verdict.status !== 'failed';
  const stdoutLeft = ended.stdout.bytes > 0 && (results.keepStdout || !keepsOutput);
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
      stdoutLeft ? contents.prepare(await tail(ended.stdout, STDOUT_KEPT_BYTES, mask)) : null,
    );
    const kept = await keep(
      run.output_format === 'multi-file'
        ? contents.prepare(Buffer.from(await lines.wholeText()))
        : prepareLog(contents, ended, mask),
    );
    const keepsAssets = verdict.status !== 'failed' && results.error === '';
    const keptAssets = keepsAssets ? results.assets.assets : [];
    const assets = await prepareAssets(parts, keptAssets, clock.now(), prepared);
    const ending: Ending = {
      status: verdict.status,
      error: withoutNul(mask.text(verdict.error)).slice(0, ERROR_CHARS_MAX),
      initiated_at: Math.floor(ended.startedAt),
      finished_at: Math.max(clock.now(), run.created_at),
      execution_ms: ended.executionMs,
      output_content_id: output?.id ?? null,
      output_bytes: output?.bytes ?? 0,
      stdout_content_id: stdout?.id ?? null,
      log_content_id: kept?.id ?? null,
      ...reportedColumns(results, mask),
      containment: ended.containment,
      limits: run.limits,
      runtime_version: run.runtime_version,
      peak_memory_bytes: ended.peakMemoryBytes ?? null,
    };
    return { ending, contents: prepared, assets };
  } catch (error) {
    await discardAll(prepared);
    throw error;
  }
}

/** Adds to the error of a run without network what its log says about that. */
async function hinted(
  verdict: Verdict,
  run: Pick<RunsTable, 'network'>,
  ended: Ended,
  mask: Mask,
): Promise<Verdict> {
  const hadNetwork = run.network === 1 || ended.containment !== 'sandbox';
  if (verdict.status !== 'failed' || hadNetwork || ended.stderr.bytes === 0) return verdict;
  const hint = networkHint((await tail(ended.stderr, STDERR_READ_BYTES, mask)).toString('utf8'));
  return hint === '' ? verdict : { ...verdict, error: `${verdict.error} ${hint}` };
}

/** What a run reported, as its row keeps it. */
export function reportedColumns(
  reported: { statistics: Statistics; metrics: Metrics; assets: ReadAssets },
  mask: Mask,
) {
  const { statistics, metrics, assets } = reported;
  const { statistics: merged, metricsError } = mergeReports(statistics, metrics);
  return {
    statistics_status: merged.status,
    statistics_error: withoutNul(mask.text(merged.error)),
    indicators: JSON.stringify(merged.indicators),
    statistics: statistics.block,
    metrics: metrics.block,
    metrics_error: metricsError === null ? null : withoutNul(mask.text(metricsError)),
    assets_error: withoutNul(mask.text(assets.error)).slice(0, ERROR_CHARS_MAX) || null,
  } satisfies Partial<RunsTable>;
}

/** Writes the end; false when the fence is stale. May be called again after it threw. */
export async function writeEnd(
  database: Database,
  run: RunsTable,
  end: PreparedEnd,
  log: LogWriter,
): Promise<boolean> {
  await log.settle();
  return database.transact(async (tx) => {
    if (!(await endRunning(tx, run, end.ending))) return false;
    await insertResults(tx, run.id, end);
    await log.finish(tx);
    return true;
  });
}

/** Writes what a run left, in the transaction that ends it. */
export async function insertResults(tx: Writer, run: RunId, end: PreparedEnd): Promise<void> {
  for (const content of end.contents) await content.insert(tx);
  await insertAssets(tx, run, end.assets);
}

/** Removes contents that nobody will ask for; those that a row names after all stay. */
export async function discardAll(contents: readonly PreparedContent[]): Promise<void> {
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
  { stderr, logCut }: Ended,
  mask: Mask,
): Promise<PreparedContent | null> {
  if (stderr.bytes === 0) return null;
  if (mask.isEmpty) return prepareFile(contents, stderr, Number.MAX_SAFE_INTEGER);
  const hidden = mask.stream(createReadStream(stderr.path), logCut);
  return contents.prepareStream(Readable.from(hidden, { objectMode: false }), Number.MAX_SAFE_INTEGER);
}

/** The end of a file, with some of what comes before it read too, where a secret may begin that reaches into it. */
async function tail(file: ResultFile, bytesMax: number, mask: Mask): Promise<Buffer> {
  const from = Math.max(0, file.bytes - bytesMax);
  const before = Math.min(from, mask.reach);
  const handle = await open(file.path, 'r');
  try {
    const bytes = Buffer.alloc(before + Math.min(file.bytes, bytesMax));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from - before);
    return mask.tail(bytes.subarray(0, bytesRead), before);
  } finally {
    await handle.close();
  }
}
