/**
 * Reads the series of one attempt of a run from its log, and writes their points together with the log lines.
 *
 * Invariants: a point is written once, whether a write fails or not. Memory, rows and bytes of a run have a bound,
 * whatever its log contains. The times of points are seconds since the start of the app.
 */
import { SERIES_ROWS_MAX, SERIES_WRITE_POINTS_MAX } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { ResourceUsage } from '@switchyard/runner';
import { createSeriesReader } from '@switchyard/solver-logs/series-reader.ts';
import type { SeriesWrite } from './series-part.ts';
import { SeriesCollection } from './series-part.ts';

/** An ended run with fewer rows is left as it is. */
const ROWS_AT_END_MAX = 8;

/** The rows of the run after a write. */
interface WrittenRows {
  count: number;
  lastSeq: number;
}

/** The series of one attempt. */
export class SeriesWriter {
  readonly #run: { id: RunId; fence: number };
  readonly #reader = createSeriesReader();
  /** All points that are in the database. */
  readonly #stored = new SeriesCollection();
  #added = new SeriesCollection(SERIES_WRITE_POINTS_MAX);
  /** The points of the current write, and of failed writes before it. */
  #writing = new SeriesCollection(SERIES_WRITE_POINTS_MAX);
  #written: WrittenRows;
  #startedAt: number | null = null;
  #lastPhase = '';
  #rows: WrittenRows;

  /** `firstSeq` is larger than any number of an earlier attempt. */
  constructor(run: { id: RunId; fence: number }, firstSeq: number) {
    this.#run = run;
    this.#rows = { count: 0, lastSeq: firstSeq };
    this.#written = this.#rows;
  }

  /** Sets the time of the start of the app, in milliseconds since the epoch. */
  setStart(at: number): void {
    this.#startedAt = at;
  }

  /** Reads a line of the log. `at` is its time in milliseconds since the epoch. Never throws. */
  addLine(line: string, at: number): void {
    for (const { series, phase, solver, solve } of this.#reader.push(line, at)) {
      const x = this.#toSeconds(at);
      for (const [name, y] of Object.entries(series)) this.#added.addPoint('log', name, [x, y]);
      if (phase === undefined || solver === undefined || solve === undefined) continue;
      const key = `${solve} ${phase}`;
      if (key !== this.#lastPhase) this.#added.addPhase({ x, phase, solver, solve });
      this.#lastPhase = key;
    }
  }

  /** Adds a measurement of the processes of the app. */
  addUsage({ at, cpuCores, memoryBytes, writtenBytes }: ResourceUsage): void {
    const x = this.#toSeconds(at);
    const values = { cpu: Math.round(cpuCores * 100) / 100, memory: memoryBytes, written: writtenBytes };
    for (const [name, y] of Object.entries(values)) this.#added.addPoint('resources', name, [x, y]);
  }

  /** Begins a write of everything that was added. */
  begin(): void {
    this.#writing.addPart(this.#added.toPart());
    this.#added = new SeriesCollection(SERIES_WRITE_POINTS_MAX);
  }

  /** Returns the write. `isEnd`: no write follows. */
  toWrite(isEnd: boolean): SeriesWrite {
    const { count, lastSeq } = this.#rows;
    const isRestart = count === 0 && this.#run.fence > 1;
    const isMerge = count >= (isEnd ? ROWS_AT_END_MAX : SERIES_ROWS_MAX);
    // The new first row has the number of the last one in it: a reader that has all of them needs only what follows.
    const replacement = isRestart || isMerge ? { seq: lastSeq, part: this.#stored.toPart() } : null;
    const addition = this.#writing.isEmpty ? null : { seq: lastSeq + 1, part: this.#writing.toPart() };
    const added = addition ? 1 : 0;
    this.#written = { count: (replacement ? 1 : count) + added, lastSeq: lastSeq + added };
    return { replacement, addition };
  }

  /** Records that the write is committed. */
  confirm(): void {
    this.#stored.addPart(this.#writing.toPart());
    this.#writing = new SeriesCollection(SERIES_WRITE_POINTS_MAX);
    this.#rows = this.#written;
  }

  #toSeconds(at: number): number {
    this.#startedAt ??= at;
    return Math.max(0, Math.round(at - this.#startedAt)) / 1000;
  }
}
