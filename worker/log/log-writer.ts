/**
 * Collects the log lines of an attempt and sends them in batches every 200 ms: followers see them soon, and an app with many
 * lines causes few writes. Chunk numbers grow from one claim to the next, so the cursor of a follower stays valid when the run
 * starts again.
 *
 * Invariants: the writer holds lines only with their secrets masked. A batch whose write failed is sent again unchanged, so
 * that a server which did store it stores it once. No batch follows one that was refused because the lease has expired.
 */
import { LOG_CHUNK_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { LogLine, ResourceUsage } from '@switchyard/runner';
import { getErrorMessage } from '@switchyard/runner/process/errors.ts';
import type { WorkerClock, WorkerLog } from '../environment.ts';
import { SeriesWriter } from '../series/series-writer.ts';
import { LineTimesEncoder } from './line-times.ts';
import {
  CHUNKS_PER_CLAIM,
  type LogBatch,
  type LogChunk,
  type LogEnd,
  type StoredLogLine,
} from './log-batch.ts';
import type { Mask } from './mask.ts';

const WRITE_INTERVAL_MS = 200;
const RETRY_INTERVAL_MS = 1000;
const CHUNK_LINES = 500;
/** Lines that may wait for their write. More of them would fill the memory of the process that all runs share. */
const PENDING_LINES_MAX = 20_000;
/** The longest pause of an app's log. While the database is unavailable, its lines come at this pace. */
const PENDING_WAIT_MS = 10_000;
/** Chunks of one batch, so that the request of a remote worker stays small. */
const BATCH_CHUNKS_MAX = 8;

interface LogWriterParts {
  clock: WorkerClock;
  log: WorkerLog;
  /** Stores a batch; returns false when this worker's lease on the run has expired. */
  writeLog(batch: LogBatch): Promise<boolean>;
}

/** Writes the log of one attempt of a run. */
export class LogWriter {
  readonly #parts: LogWriterParts;
  readonly #runId: RunId;
  #lines: StoredLogLine[] = [];
  readonly #series: SeriesWriter;
  readonly #times = new LineTimesEncoder();
  #seq: number;
  #lastMicros = 0;
  /** The batch whose write is under way or has failed. */
  #batch: LogBatch | null = null;
  #writing: Promise<void> = Promise.resolve();
  #cancelTimer: (() => void) | null = null;
  #hasLease = true;
  /** Resolves the waits for the write of earlier lines. */
  readonly #waits = new Set<() => void>();

  constructor(parts: LogWriterParts, run: { id: RunId; fence: number }) {
    this.#parts = parts;
    this.#runId = run.id;
    this.#seq = run.fence * CHUNKS_PER_CLAIM;
    this.#series = new SeriesWriter(run.fence, this.#seq);
  }

  /** Masks the lines and schedules their write. Resolves when further lines may come. */
  async add(lines: readonly LogLine[], mask: Mask): Promise<void> {
    for (const line of lines) {
      this.#lastMicros = Math.max(Math.round(line.at * 1000), this.#lastMicros + 1);
      const text = mask.maskLine(line.text);
      this.#lines.push([this.#lastMicros, text]);
      this.#series.addLine(text, line.at);
      this.#times.add(Math.floor(this.#lastMicros / 1000));
    }
    this.#scheduleWrite(WRITE_INTERVAL_MS);
    if (this.#isFull) await this.#waitForWrites();
  }

  /** Sets the time of the start of the app, from which the times of series count. */
  setStart(at: number): void {
    this.#series.setStart(at);
  }

  /** Adds a measurement of the resources to the series, and schedules their write. */
  addUsage(usage: ResourceUsage): void {
    this.#series.addUsage(usage);
    this.#scheduleWrite(WRITE_INTERVAL_MS);
  }

  /** Waits for the current write, and returns what is not written. Nothing may be added afterwards. */
  async end(): Promise<LogEnd> {
    this.#cancelTimer?.();
    this.#cancelTimer = () => {};
    await this.#writing;
    const failed = this.#batch;
    // It comes before the last batch, in the same transaction.
    if (failed) this.#series.confirm();
    const chunks = this.#removeChunks(Number.POSITIVE_INFINITY);
    this.#series.begin(true);
    const last = { chunks, series: this.#series.toWrite(true) };
    return { batches: failed ? [failed, last] : [last], times: this.#times.toBytes() };
  }

  #scheduleWrite(delayMs: number): void {
    if (!this.#hasLease) this.#lines = [];
    else
      this.#cancelTimer ??= this.#parts.clock.after(delayMs, () => {
        this.#cancelTimer = null;
        this.#writing = this.#writing.then(() => this.#write());
      });
  }

  /** Writes the next batch; never throws. */
  async #write(): Promise<void> {
    this.#batch ??= this.#removeBatch();
    try {
      this.#hasLease = await this.#parts.writeLog(this.#batch);
    } catch (error) {
      this.#parts.log.warn(
        { run: this.#runId, error: getErrorMessage(error) },
        'Log lines not written; the next write retries them.',
      );
      return this.#scheduleWrite(RETRY_INTERVAL_MS);
    }
    this.#batch = null;
    this.#series.confirm();
    if (this.#lines.length > 0) this.#scheduleWrite(this.#isBehind ? 0 : WRITE_INTERVAL_MS);
    if (this.#isFull) return;
    for (const resolve of this.#waits) resolve();
    this.#waits.clear();
  }

  get #isFull(): boolean {
    return this.#lines.length > PENDING_LINES_MAX;
  }

  async #waitForWrites(): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancelTimer = this.#parts.clock.after(PENDING_WAIT_MS, resolve);
      this.#waits.add(() => {
        cancelTimer();
        resolve();
      });
    });
  }

  get #isBehind(): boolean {
    return this.#lines.length >= CHUNK_LINES;
  }

  #removeBatch(): LogBatch {
    const chunks = this.#removeChunks(BATCH_CHUNKS_MAX);
    this.#series.begin();
    return { chunks, series: this.#series.toWrite(false) };
  }

  /** Removes lines for at most `limit` chunks. */
  #removeChunks(limit: number): LogChunk[] {
    const chunks: LogChunk[] = [];
    let removed = 0;
    for (const lines of splitIntoChunks(this.#lines)) {
      if (chunks.length >= limit) break;
      this.#seq += 1;
      chunks.push({ seq: this.#seq, at: Math.floor((lines[0]?.[0] ?? 0) / 1000), lines });
      removed += lines.length;
    }
    this.#lines = this.#lines.slice(removed);
    return chunks;
  }
}

function* splitIntoChunks(lines: readonly StoredLogLine[]): Generator<StoredLogLine[]> {
  let chunk: StoredLogLine[] = [];
  let characters = 0;
  for (const line of lines) {
    if (
      chunk.length >= CHUNK_LINES ||
      (chunk.length > 0 && characters + line[1].length > LOG_CHUNK_CHARS_MAX)
    ) {
      yield chunk;
      chunk = [];
      characters = 0;
    }
    chunk.push(line);
    characters += line[1].length;
  }
  if (chunk.length > 0) yield chunk;
}
