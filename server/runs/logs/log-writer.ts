/**
 * Takes the lines of a run as they come and writes them in chunks, a few times a second, so that those who follow see them
 * soon and a chatty app costs few transactions. The numbers of chunks grow from one claim to the next, so a follower's
 * place stays good when the run is started again.
 *
 * What must stay true: a line shows no secret of the app from the moment it is here. Lines are written only while the run is there and claimed by nobody else; otherwise a run that was
 * deleted would leave lines behind.
 */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { LogLine } from '@switchyard/runner';
import type { Clock } from '../../clock.ts';
import type { Database, Writer } from '../../database/database.ts';
import { errorMessage, type Log } from '../../log.ts';
import type { Mask } from '../../secrets/mask.ts';
import { isLeaseCurrent } from '../store/leases.ts';
import { insertLogChunk, listLogChunks } from '../store/log-chunks.ts';

const WRITE_INTERVAL_MS = 200;
const CHUNK_LINES = 500;
const CHUNK_CHARS = 256 * 1024;
/** Chunks of a claim are numbered from here, times its fence. */
export const CHUNKS_PER_CLAIM = 100_000_000;

/** Whole microseconds since the epoch, growing from line to line, and the line. */
export type StoredLogLine = [micros: number, text: string];

export class LogWriter {
  readonly #parts: { database: Database; clock: Clock; log: Log };
  readonly #run: { id: RunId; fence: number };
  #lines: StoredLogLine[] = [];
  readonly #first: number;
  #seq: number;
  #last = 0;
  #writing: Promise<void> = Promise.resolve();
  #cancelTimer: (() => void) | null = null;

  constructor(parts: { database: Database; clock: Clock; log: Log }, run: { id: RunId; fence: number }) {
    this.#parts = parts;
    this.#run = run;
    this.#first = run.fence * CHUNKS_PER_CLAIM;
    this.#seq = this.#first;
  }

  add(lines: readonly LogLine[], mask: Mask): void {
    for (const line of lines) {
      this.#last = Math.max(Math.round(line.at * 1000), this.#last + 1);
      this.#lines.push([this.#last, mask.maskLine(line.text)]);
    }
    this.#cancelTimer ??= this.#parts.clock.after(WRITE_INTERVAL_MS, () => this.#writeSoon());
  }

  /** Every line of this attempt as one text, for formats whose log is more than stderr. */
  async readText(): Promise<string> {
    await this.waitForWrites();
    const { database } = this.#parts;
    const parts: string[] = [];
    let after = this.#first;
    for (;;) {
      const found = await listLogChunks(database.read, this.#run.id, after, 100);
      for (const chunk of found)
        for (const [, text] of JSON.parse(chunk.lines) as StoredLogLine[]) parts.push(text);
      const last = found.at(-1);
      if (!last) break;
      after = last.seq;
    }
    for (const [, text] of this.#lines) parts.push(text);
    return parts.map((text) => `${text}\n`).join('');
  }

  /** Writes what is left inside the caller's transaction, after everything written before has arrived. */
  async flush(tx: Writer): Promise<void> {
    await this.#insert(tx, this.#lines);
  }

  /** Waits for what is being written; call it before the transaction that calls `finish`. */
  async waitForWrites(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    await this.#writing;
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
          'Lines of a log could not be written yet.',
        );
      });
  }

  async #write(lines: readonly StoredLogLine[]): Promise<void> {
    const { database } = this.#parts;
    await database.transact(
      async (tx) => {
        if (await isLeaseCurrent(tx, this.#run)) await this.#insert(tx, lines);
      },
      { durable: false },
    );
    database.notify('log-lines');
  }

  async #insert(tx: Writer, lines: readonly StoredLogLine[]): Promise<void> {
    for (const chunk of chunks(lines)) {
      this.#seq += 1;
      const at = Math.floor((chunk[0]?.[0] ?? 0) / 1000);
      await insertLogChunk(tx, { run_id: this.#run.id, seq: this.#seq, at, lines: JSON.stringify(chunk) });
    }
  }
}

function* chunks(lines: readonly StoredLogLine[]): Generator<StoredLogLine[]> {
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
