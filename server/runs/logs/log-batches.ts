/** Stores batches of a log: lines and points of series. A batch that comes again is stored once. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import {
  CHUNKS_PER_CLAIM,
  type LogBatch,
  type LogEnd,
  parseLogLines,
} from '@switchyard/worker/log/log-batch.ts';
import type { Database, Reader, Writer } from '../../database/database.ts';
import { storeSeriesWrite } from '../series/series-rows.ts';
import { isLeaseCurrent } from '../store/leases.ts';
import { insertLogChunk, listLogChunks } from '../store/log-chunks.ts';
import { upsertLogTimes } from './log-times.ts';

interface Attempt {
  id: RunId;
  fence: number;
}

const CHUNKS_PER_PAGE = 100;

/**
 * Stores a batch of a running attempt; returns false when the lease on the run has expired. Without a lease it writes nothing:
 * lines of a deleted run would stay in the database.
 */
export async function writeLogBatch(database: Database, run: Attempt, batch: LogBatch): Promise<boolean> {
  const hasLease = await database.transact(
    async (tx) => {
      if (!(await isLeaseCurrent(tx, run))) return false;
      await storeLogBatch(tx, run.id, batch);
      return true;
    },
    { durable: false },
  );
  if (hasLease) database.notify('log-lines');
  return hasLease;
}

async function storeLogBatch(tx: Writer, id: RunId, { chunks, series }: LogBatch): Promise<void> {
  for (const { seq, at, lines } of chunks)
    await insertLogChunk(tx, { run_id: id, seq, at, lines: JSON.stringify(lines) });
  await storeSeriesWrite(tx, id, series);
}

/** Stores the end of a log in the transaction that ends or requeues its run. */
export async function storeLogEnd(tx: Writer, id: RunId, { batches }: LogEnd): Promise<void> {
  for (const batch of batches) await storeLogBatch(tx, id, batch);
}

/** Stores the times of all lines of an attempt, whose log is the log of the ended run. */
export async function storeLineTimes(tx: Writer, id: RunId, { times }: LogEnd): Promise<void> {
  if (times) await upsertLogTimes(tx, id, times);
}

/** Returns every line of the attempt as one text, for formats whose log is more than stderr. */
export async function readLogText(db: Reader, { id, fence }: Attempt, end: LogEnd): Promise<string> {
  const texts: string[] = [];
  const unwritten = end.batches.flatMap(({ chunks }) => chunks);
  const first = unwritten[0]?.seq ?? Number.POSITIVE_INFINITY;
  let after = fence * CHUNKS_PER_CLAIM;
  for (;;) {
    const stored = await listLogChunks(db, id, after, CHUNKS_PER_PAGE);
    const written = stored.filter(({ seq }) => seq < first);
    for (const chunk of written) for (const [, text] of parseLogLines(chunk.lines)) texts.push(text);
    const last = written.at(-1);
    if (!last || written.length < stored.length) break;
    after = last.seq;
  }
  for (const { lines } of unwritten) for (const [, text] of lines) texts.push(text);
  return texts.map((text) => `${text}\n`).join('');
}
