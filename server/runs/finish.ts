/**
 * The end of a run: its results become contents, its status follows the transition table, the event row stands beside it;
 * one transaction, which does nothing when somebody else has the run by now.
 */
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { ERROR_CHARS_MAX, OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { Ended, ResultFile } from '@switchyard/runner';
import type { Contents, PreparedContent } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { judge } from './judge.ts';
import type { LogWriter } from './log-writer.ts';
import { readResults } from './read-results.ts';
import type { RunsTable } from './schema.ts';
import { type Ending, endRunning } from './store.ts';

const SMALL_BYTES_MAX = 64 * 1024;
/** Of what an app printed beside its output the end is kept, where the reason of a failure stands. */
const STDOUT_KEPT_BYTES = 64 * 1024;

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
}

/** Answers the status it wrote, or null when the fence was stale. */
export async function finish(
  parts: Parts,
  run: RunsTable,
  ended: Ended,
  log: LogWriter,
): Promise<Ending['status'] | null> {
  const { database, contents, clock } = parts;
  const results = await readResults(ended, run.output_format);
  const verdict = judge(ended, results.error);
  const keepsOutput = results.output !== null && results.error === '' && verdict.status !== 'failed';
  const output =
    keepsOutput && results.output ? await prepareFile(contents, results.output, OUTPUT_BYTES_MAX) : null;
  const stdoutLeft = ended.stdout.bytes > 0 && (results.keepStdout || !keepsOutput);
  const stdout = stdoutLeft ? await contents.prepare(await tail(ended.stdout, STDOUT_KEPT_BYTES)) : null;
  const logFile = run.output_format === 'multi-file' ? await log.wholeText() : null;
  const kept =
    logFile === null
      ? await prepareLog(contents, ended.stderr)
      : await contents.prepare(Buffer.from(logFile));
  const now = clock.now();

  await log.settle();
  const ending: Ending = {
    status: verdict.status,
    error: verdict.error.slice(0, ERROR_CHARS_MAX),
    initiated_at: Math.floor(ended.startedAt),
    finished_at: Math.max(now, run.created_at),
    execution_ms: ended.executionMs,
    output_content_id: output?.id ?? null,
    output_bytes: output?.bytes ?? 0,
    stdout_content_id: stdout?.id ?? null,
    log_content_id: kept?.id ?? null,
    statistics_status: results.statistics.status,
    statistics_error: results.statistics.error,
    indicators: JSON.stringify(results.statistics.indicators),
    statistics: results.statistics.block,
    metrics: results.metrics,
    containment: ended.containment,
    limits: run.limits,
    peak_memory_bytes: ended.peakMemoryBytes ?? null,
  };
  const written = await database.transact(async (tx) => {
    if (!(await endRunning(tx, run, ending))) return false;
    for (const content of [output, stdout, kept]) await content?.insert(tx);
    await log.finish(tx);
    return true;
  });
  return written ? verdict.status : null;
}

async function prepareFile(contents: Contents, file: ResultFile, bytesMax: number): Promise<PreparedContent> {
  if (file.bytes <= SMALL_BYTES_MAX) return contents.prepare(await readFile(file.path));
  return contents.prepareStream(createReadStream(file.path), bytesMax);
}

async function prepareLog(contents: Contents, file: ResultFile): Promise<PreparedContent | null> {
  return file.bytes === 0 ? null : prepareFile(contents, file, Number.MAX_SAFE_INTEGER);
}

async function tail(file: ResultFile, bytesMax: number): Promise<Buffer> {
  if (file.bytes <= bytesMax) return readFile(file.path);
  const handle = await open(file.path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(bytesMax),
      0,
      bytesMax,
      file.bytes - bytesMax,
    );
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
