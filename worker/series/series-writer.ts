/**
 * Reads the series of one attempt of a run from its log, and writes their points together with the log lines.
 *
 * Invariants: a point is written once, whether a write fails or not. Memory, rows and bytes of a run have a bound,
 * whatever its log contains. The times of points are seconds since the start of the app. Points of a solver have the time of
 * its clock from the start of its solve. Lines that arrive late move that start.
 */
import { SERIES_ROWS_MAX, SERIES_SOLVES_MAX, SERIES_WRITE_POINTS_MAX } from '@switchyard/contract/limits.ts';
import type { ResourceUsage } from '@switchyard/runner';
import { createSeriesReader, type SeriesPoint } from '@switchyard/solver-logs/series-reader.ts';
import type { SeriesWrite } from './series-part.ts';
import { roundToMs, SeriesCollection } from './series-part.ts';

/** An ended run with fewer rows is left as it is. */
const ROWS_AT_END_MAX = 8;
/** A start of a solve that is this much earlier moves its points while the app runs. Clocks of solvers show tenths of seconds. */
const MOVE_MIN_MS = 100;
/** Rounded clocks can place a solve a little before the start of its app. */
const IMPOSSIBLE_MS = 1_000;
/** How often moved points replace the stored ones while the app runs. At its end they do in any case. */
const MOVES_MAX = 40;

/** The rows of the run after a write. */
interface WrittenRows {
  count: number;
  lastSeq: number;
}

/** The series of one attempt. */
export class SeriesWriter {
  readonly #fence: number;
  readonly #reader = createSeriesReader();
  /** All points that are in the database. */
  readonly #stored = new SeriesCollection();
  #added = new SeriesCollection(SERIES_WRITE_POINTS_MAX);
  /** The points of the current write, and of failed writes before it. */
  #writing = new SeriesCollection(SERIES_WRITE_POINTS_MAX);
  #written: WrittenRows;
  #startedAt: number | null = null;
  #lastPhase = '';
  /** The start of each solve that its points count from, in milliseconds since the epoch. */
  readonly #solveStarts = new Map<number, number>();
  /** The solves as they were last written, in JSON. */
  readonly #writtenSolves = new Map<number, string>();
  #moves = 0;
  #hasMoved = false;
  #rows: WrittenRows;

  /** `firstSeq` is larger than any number of an earlier attempt. */
  constructor(fence: number, firstSeq: number) {
    this.#fence = fence;
    this.#rows = { count: 0, lastSeq: firstSeq };
    this.#written = this.#rows;
  }

  /** Sets the time of the start of the app, in milliseconds since the epoch. */
  setStart(at: number): void {
    this.#startedAt = at;
  }

  /** Reads a line of the log. `at` is its time in milliseconds since the epoch. Never throws. */
  addLine(line: string, at: number): void {
    for (const point of this.#reader.push(line, at)) {
      const { series, phase, solver, solve } = point;
      const x = this.#place(point);
      for (const [name, y] of Object.entries(series))
        this.#added.addPoint({ source: 'log', name, solve: solve ?? null }, [x, y]);
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
    for (const [name, y] of Object.entries(values))
      this.#added.addPoint({ source: 'resources', name, solve: null }, [x, y]);
  }

  /** Begins a write of everything that was added. The last write has all solves. */
  begin(isEnd = false): void {
    if (isEnd) this.#writtenSolves.clear();
    this.#addSolves(isEnd);
    this.#writing.addPart(this.#added.toPart());
    this.#added = new SeriesCollection(SERIES_WRITE_POINTS_MAX);
  }

  /** Adds the solves of which the log has said more since the last write, and moves those that began earlier than it seemed. */
  #addSolves(isEnd: boolean): void {
    for (const { startedAt, ...facts } of this.#reader.solves) {
      this.#moveSolve(facts.solve, startedAt, isEnd);
      const solve = { ...facts, x: this.#toSeconds(this.#solveStarts.get(facts.solve) ?? startedAt) };
      const json = JSON.stringify(solve);
      if (this.#writtenSolves.get(solve.solve) === json) continue;
      this.#writtenSolves.set(solve.solve, json);
      this.#added.setSolve(solve);
    }
  }

  /** Returns the write. `isEnd`: no write follows. */
  toWrite(isEnd: boolean): SeriesWrite {
    const { count, lastSeq } = this.#rows;
    const isRestart = count === 0 && this.#fence > 1;
    const isMerge = count >= (isEnd ? ROWS_AT_END_MAX : SERIES_ROWS_MAX);
    const isMove = this.#hasMoved && (isEnd || this.#moves < MOVES_MAX);
    if (isMove) this.#moves += 1;
    if (isMove || isRestart || isMerge) this.#hasMoved = false;
    // The new first row has the number of the last one in it: a reader that has all of them needs only what follows. Moved
    // points have a new number, so that such a reader gets them again.
    const firstSeq = isMove ? lastSeq + 1 : lastSeq;
    const replacement =
      isRestart || isMerge || isMove ? { seq: firstSeq, part: this.#stored.toPart() } : null;
    const addition = this.#writing.isEmpty ? null : { seq: firstSeq + 1, part: this.#writing.toPart() };
    const added = addition ? 1 : 0;
    this.#written = { count: (replacement ? 1 : count) + added, lastSeq: firstSeq + added };
    return { replacement, addition };
  }

  /** Records that the write is committed. */
  confirm(): void {
    this.#stored.addPart(this.#writing.toPart());
    this.#writing = new SeriesCollection(SERIES_WRITE_POINTS_MAX);
    this.#rows = this.#written;
  }

  /**
   * Returns x of a point: by the clock of its solver where it has one, and never after the arrival of its line where that
   * clock is impossible.
   */
  #place({ at, seconds, solve, startedAt }: SeriesPoint): number {
    const arrival = this.#toSeconds(at);
    if (solve === undefined || startedAt === undefined) return arrival;
    const start = this.#solveStarts.get(solve) ?? startedAt;
    // The reader lists no later solves, so nothing would move them.
    if (solve < SERIES_SOLVES_MAX) this.#solveStarts.set(solve, start);
    if (seconds === undefined) return arrival;
    const x = roundToMs(this.#toSeconds(start) + seconds);
    return this.#isImpossible(startedAt) ? Math.min(arrival, x) : x;
  }

  /** Returns true for a start before that of the app: the clock runs faster than time, such as one of processor seconds. */
  #isImpossible(startedAt: number): boolean {
    return startedAt < (this.#startedAt ?? 0) - IMPOSSIBLE_MS;
  }

  #moveSolve(solve: number, startedAt: number, isEnd: boolean): void {
    const start = this.#solveStarts.get(solve) ?? startedAt;
    if (start - startedAt <= (isEnd ? 0 : MOVE_MIN_MS) || this.#isImpossible(startedAt)) return;
    this.#solveStarts.set(solve, startedAt);
    const seconds = this.#toSeconds(start) - this.#toSeconds(startedAt);
    if (seconds <= 0) return;
    for (const points of [this.#stored, this.#writing, this.#added]) points.moveSolve(solve, seconds);
    this.#hasMoved = true;
  }

  #toSeconds(at: number): number {
    this.#startedAt ??= at;
    return Math.max(0, Math.round(at - this.#startedAt)) / 1000;
  }
}
