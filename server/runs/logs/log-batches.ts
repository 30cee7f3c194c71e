/** Stores batches of a log: lines and points of series. A batch that comes again is stored once. */
import { ATTEMPT_LOG_CHARS_MAX, LOG_LINES_MAX, LOG_REMARK_LINES_MAX } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import {
  CHUNKS_PER_CLAIM,
  type LogBatch,
  type LogChunk,
  type LogEnd,
  parseLogLines,
} from '@switchyard/worker/log/log-batch.ts';
import type { Database, Reader, Writer } from '../../platform/database/database.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import { storeSeriesWrite } from '../series/series-rows.ts';
import { isLeaseCurrent } from '../store/leases.ts';
import { findStoredLog, insertLogChunk, listLogChunks, type StoredLog } from '../store/log-chunks.ts';
import { upsertLogTimes } from './log-times.ts';

interface Attempt {
  id: RunId;
  fence: number;
}

/** Of at most 256 KiB each. */
const CHUNKS_PER_PAGE = 8;

/**
 * Stores a batch of a running attempt; returns false when the lease on the run has expired. Without a lease it writes nothing:
 * lines of a deleted run would stay in the database. Throws a 400, and stores nothing, when the log becomes larger than that of
 * any app.
 */
export async function writeLogBatch(database: Database, run: Attempt, batch: LogBatch): Promise<boolean> {
  const hasLease = await database.transact(
    async (tx) => {
      if (!(await isLeaseCurrent(tx, run))) return false;
      const excess = await storeLogBatch(tx, run, batch);
      if (excess !== null) throw badRequest(excess);
      return true;
    },
    { durable: false },
  );
  if (hasLease) database.notify('log-lines');
  return hasLease;
}

/** Stores what is new in a batch, up to the bounds of a log. Returns the sentence about what is beyond them; null for none. */
async function storeLogBatch(tx: Writer, run: Attempt, { chunks, series }: LogBatch): Promise<string | null> {
  const excess = chunks.length === 0 ? null : await storeChunks(tx, run, chunks);
  return (await storeSeriesWrite(tx, run.id, series)) ?? excess;
}

async function storeChunks(tx: Writer, run: Attempt, chunks: readonly LogChunk[]): Promise<string | null> {
  const stored = await findStoredLog(tx, run.id, run.fence * CHUNKS_PER_CLAIM);
  for (const { seq, at, lines } of chunks) {
    // The chunks of an attempt come in their order, so this one came before.
    if (seq <= stored.seq) continue;
    const excess = addLines(stored, lines);
    if (excess !== null) return excess;
    stored.seq = seq;
    await insertLogChunk(tx, {
      ...{ run_id: run.id, seq, at, lines: JSON.stringify(lines) },
      ...{ lines_so_far: stored.lines, chars_so_far: stored.chars },
    });
  }
  return null;
}

/** Adds lines to the size of a log. Returns the sentence that refuses them when the log becomes too large; else null. */
function addLines(log: StoredLog, lines: LogChunk['lines']): string | null {
  log.lines += lines.length;
  log.chars += countLineChars(lines);
  const linesMax = LOG_LINES_MAX + LOG_REMARK_LINES_MAX;
  if (log.lines > linesMax)
    return `chunks has line ${log.lines} of the attempt; its logs may have ${linesMax} lines together.`;
  return log.chars > ATTEMPT_LOG_CHARS_MAX
    ? `chunks has character ${log.chars} of the attempt; its logs may have ${ATTEMPT_LOG_CHARS_MAX} characters together.`
    : null;
}

/** Returns the number of characters of the texts of the lines. */
export function countLineChars(lines: LogChunk['lines']): number {
  return lines.reduce((sum, [, text]) => sum + text.length, 0);
}

/**
 * Returns the sentence about lines of the end of a log that are beyond the bounds of a log; null for none. The attempt must not
 * have other writes at the same time: what is beyond the bounds then is not stored.
 */
export async function findLogExcess(
  db: Reader,
  run: Attempt,
  batches: readonly LogBatch[],
): Promise<string | null> {
  const log = await findStoredLog(db, run.id, run.fence * CHUNKS_PER_CLAIM);
  const chunks = batches.flatMap((batch) => batch.chunks).filter(({ seq }) => seq > log.seq);
  for (const { lines } of chunks) {
    const excess = addLines(log, lines);
    if (excess !== null) return excess;
  }
  return null;
}

/** Stores the end of a log in the transaction that ends or requeues its run, without what is beyond the bounds of a log. */
export async function storeLogEnd(tx: Writer, run: Attempt, { batches }: LogEnd): Promise<void> {
  for (const batch of batches) await storeLogBatch(tx, run, batch);
}

/** Stores the times of all lines of an attempt, whose log is the log of the ended run. */
export async function storeLineTimes(tx: Writer, id: RunId, { times }: LogEnd): Promise<void> {
  if (times) await upsertLogTimes(tx, id, times);
}

/**
 * Yields every line of the attempt as text, for formats whose log is more than stderr. It holds a few chunks in memory, however
 * long the log is.
 */
export async function* streamLogText(
  db: Reader,
  { id, fence }: Attempt,
  end: LogEnd,
): AsyncGenerator<string> {
  const unwritten = end.batches.flatMap(({ chunks }) => chunks);
  const first = unwritten[0]?.seq ?? Number.POSITIVE_INFINITY;
  let after = fence * CHUNKS_PER_CLAIM;
  for (;;) {
    const stored = await listLogChunks(db, id, after, CHUNKS_PER_PAGE);
    const written = stored.filter(({ seq }) => seq < first);
    for (const chunk of written)
      yield formatLines(parseLogLines(chunk.lines, `log_chunks.lines of run_id ${id}, seq ${chunk.seq}`));
    const last = written.at(-1);
    if (!last || written.length < stored.length) break;
    after = last.seq;
  }
  for (const { lines } of unwritten) yield formatLines(lines);
}

function formatLines(lines: LogChunk['lines']): string {
  return lines.map(([, text]) => `${text}\n`).join('');
}
