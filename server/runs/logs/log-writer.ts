/**
 * Collects the log lines of a run and writes them in chunks every 200 ms: followers see them soon, and an app with many
 * lines causes few transactions. Chunk numbers grow from one claim to the next, so the cursor of a follower stays valid
 * when the run starts again.
 *
 * Invariants: the writer holds lines only with their secrets masked. It writes only while this worker has the lease;
 * otherwise lines of a deleted run would stay in the database.
 */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { LogLine, ResourceUsage } from '@switchyard/runner';
import type { Clock } from '../../clock.ts';
import type { Database, Writer } from '../../database/database.ts';
import { errorMessage, type Log } from '../../log.ts';
import type { Mask } from '../../secrets/mask.ts';
import { SeriesWriter } from '../series/series-writer.ts';
import { isLeaseCurrent } from '../store/leases.ts';
import { insertLogChunk, listLogChunks } from '../store/log-chunks.ts';
import { LineTimesEncoder } from './line-times.ts';
import { upsertLogTimes } from './log-times.ts';

const WRITE_INTERVAL_MS = 200;
const CHUNK_LINES = 500;
const CHUNK_CHARS = 256 * 1024;
/** The chunks of a claim are numbered from its fencing token times this number. */
export const CHUNKS_PER_CLAIM = 100_000_000;

/** A line and its time in whole microseconds since the epoch; the times are strictly increasing. */
export type StoredLogLine = [micros: number, text: string];

/** Parses the lines of a stored chunk. */
export function parseLogLines(chunk: string): StoredLogLine[] {
  return JSON.parse(chunk) as StoredLogLine[];
}

/** Writes the log of one attempt of a run. */
export class LogWriter {
  readonly #parts: { database: Database; clock: Clock; log: Log };
  readonly #run: { id: RunId; fence: number };
  #lines: StoredLogLine[] = [];
  readonly #firstSeq: number;
  readonly #series: SeriesWriter;
  readonly #times = new LineTimesEncoder();
  #seq: number;
  #lastMicros = 0;
  #writing: Promise<void> = Promise.resolve();
  #cancelTimer: (() => void) | null = null;

  constructor(texts: { database: Database; clock: Clock; log: Log }, run: { id: RunId; fence: number }) {
    this.#parts = texts;
    this.#run = run;
    this.#firstSeq = run.fence * CHUNKS_PER_CLAIM;
    this.#seq = this.#firstSeq;
    this.#series = new SeriesWriter(run, this.#firstSeq);
  }

  /** Masks the lines and schedules their write. */
  add(lines: readonly LogLine[], mask: Mask): void {
    for (const line of lines) {
      this.#lastMicros = Math.max(Math.round(line.at * 1000), this.#lastMicros + 1);
      const text = mask.maskLine(line.text);
      this.#lines.push([this.#lastMicros, text]);
      this.#series.addLine(text, line.at);
      this.#times.add(Math.floor(this.#lastMicros / 1000));
    }
    this.#scheduleWrite();
  }

  /** Sets the time of the start of the app, from which the times of series count. */
  setStart(at: number): void {
    this.#series.setStart(at);
  }

  /** Adds a measurement of the resources to the series, and schedules their write. */
  addUsage(usage: ResourceUsage): void {
    this.#series.addUsage(usage);
    this.#scheduleWrite();
  }

  /** Returns every line of this attempt as one text, for formats whose log is more than stderr. */
  async readText(): Promise<string> {
    await this.waitForWrites();
    const { database } = this.#parts;
    const texts: string[] = [];
    let after = this.#firstSeq;
    for (;;) {
      const stored = await listLogChunks(database.read, this.#run.id, after, 100);
      for (const chunk of stored) for (const [, text] of parseLogLines(chunk.lines)) texts.push(text);
      const last = stored.at(-1);
      if (!last) break;
      after = last.seq;
    }
    for (const [, text] of this.#lines) texts.push(text);
    return texts.map((text) => `${text}\n`).join('');
  }

  /** Writes the remaining lines in the transaction of the caller, who has called `waitForWrites` before it. */
  async flush(tx: Writer): Promise<void> {
    await this.#insert(tx, this.#lines);
    this.#series.begin();
    await this.#series.insert(tx, true);
  }

  /** Writes the times of all lines of this attempt, whose log is the log of the ended run. */
  async writeTimes(tx: Writer): Promise<void> {
    const times = this.#times.toBytes();
    if (times) await upsertLogTimes(tx, this.#run.id, times);
  }

  /** Waits for the current write. Call it before the transaction that calls `flush`. */
  async waitForWrites(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    await this.#writing;
  }

  #scheduleWrite(): void {
    this.#cancelTimer ??= this.#parts.clock.after(WRITE_INTERVAL_MS, () => this.#writeSoon());
  }

  #writeSoon(): void {
    const lines = this.#lines;
    this.#lines = [];
    this.#cancelTimer = null;
    this.#writing = this.#writing
      .then(() => this.#write(lines))
      .catch((error: unknown) => {
        this.#lines = [...lines, ...this.#lines];
        this.#parts.log.warn(
          { run: this.#run.id, error: errorMessage(error) },
          'Log lines not written; the next write retries them.',
        );
      });
  }

  async #write(lines: readonly StoredLogLine[]): Promise<void> {
    const { database } = this.#parts;
    this.#series.begin();
    await database.transact(
      async (tx) => {
        if (!(await isLeaseCurrent(tx, this.#run))) return;
        await this.#insert(tx, lines);
        await this.#series.insert(tx);
      },
      { durable: false },
    );
    this.#series.confirm();
    database.notify('log-lines');
  }

  async #insert(tx: Writer, lines: readonly StoredLogLine[]): Promise<void> {
    for (const chunk of splitIntoChunks(lines)) {
      this.#seq += 1;
      const at = Math.floor((chunk[0]?.[0] ?? 0) / 1000);
      await insertLogChunk(tx, { run_id: this.#run.id, seq: this.#seq, at, lines: JSON.stringify(chunk) });
    }
  }
}

function* splitIntoChunks(lines: readonly StoredLogLine[]): Generator<StoredLogLine[]> {
  let chunk: StoredLogLine[] = [];
  let characters = 0;
  for (const line of lines) {
    if (chunk.length >= CHUNK_LINES || (chunk.length > 0 && characters + line[1].length > CHUNK_CHARS)) {
      yield chunk;
      chunk = [];
      characters = 0;
    }
    chunk.push(line);
    characters += line[1].length;
  }
  if (chunk.length > 0) yield chunk;
}
