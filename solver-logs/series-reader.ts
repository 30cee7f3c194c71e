/**
 * Reads the log of an app line by line and returns the points of its series: the progress of known solvers, and
 * `{"series": …}` lines. The reader holds one small state for each solver, whatever the log's length. A solver's rules
 * see lines only after a line that this solver alone writes, so that tables of other programs give no points.
 */
import { createJsonSeriesReader, isObject, parseJson } from './json-series.ts';
import { cleanLine, findMessage, LinePrefixes } from './line-prefix.ts';
import { Solve, type SolveStep, type SolveSummary } from './solve.ts';
import type { LogFormat, SolvePhase } from './solvers/format.ts';
import { LOG_FORMATS } from './solvers/log-formats.ts';

/** The longest line of a solver in the test logs has 260 characters. Longer lines are not parsed. */
const SOLVER_LINE_LIMIT_CHARACTERS = 1_024;
/** Bounds the work of prefixes and JSON. */
const LINE_LIMIT_CHARACTERS = 16_384;
/** Solves whose summary is kept. Later ones have points, but no summary. */
const SUMMARIES_MAX = 400;

const MS_PER_SECOND = 1_000;

const STARTS = LOG_FORMATS.map((format) => ({
  format,
  start: anchor(joinPatterns([format])),
  banner: anchor(format.banner.source),
}));
const START_PATTERN = joinPatterns(LOG_FORMATS);
const ANYWHERE = new RegExp(START_PATTERN);

function joinPatterns(formats: readonly LogFormat[]): string {
  return formats
    .flatMap(({ banner, start }) => (start ? [banner.source, start.source] : [banner.source]))
    .join('|');
}

function anchor(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})`);
}
/** Numbers at one time. Names of solver points: `objective`, `bound`, `gap` (ratio) and `nodes`. */
export interface SeriesPoint {
  /** The time that the caller gave with the line, in milliseconds. */
  at: number;
  series: Record<string, number>;
  /** The phase that begins here. */
  phase?: SolvePhase;
  /** The solver's name. Undefined for `{"series": …}` lines. */
  solver?: string;
  /** Counts the solves of the log, from 0, over all solvers. Undefined for `{"series": …}` lines. */
  solve?: number;
  /** The solver's own clock: seconds since the start of the solve. Undefined where the line does not tell. */
  seconds?: number;
  /** The start of the solve, as this line and those before show it: see `LogSolve`. */
  startedAt?: number;
}

/** A solve, and the time at which it began. */
export interface LogSolve extends SolveSummary {
  /** Number of the solve in its log, from 0, over all solvers. */
  solve: number;
  /**
   * In the time of the caller, in milliseconds. It becomes earlier when a line shows that those before arrived late: a solver
   * whose output is buffered prints its banner and its last row at once.
   */
  startedAt: number;
}

/** A streaming reader of one log. */
export interface SeriesReader {
  /** Returns the points of a line, at most one. Never throws. `atMs` is the time at which the line arrived. */
  push(line: string, atMs: number): SeriesPoint[];
  /** The solves so far, by number. */
  readonly solves: readonly LogSolve[];
}

/** The state of one log. */
class LogReader implements SeriesReader {
  readonly #open = new Map<LogFormat, OpenSolve>();
  readonly #prefixes = new LinePrefixes(ANYWHERE);
  readonly #readSeries = createJsonSeriesReader();
  readonly #listed: OpenSolve[] = [];
  #count = 0;

  get solves(): LogSolve[] {
    return this.#listed.map(({ solve, startedAt, number = 0 }) => ({
      solve: number,
      ...solve.summary,
      startedAt,
    }));
  }

  push(line: string, atMs: number): SeriesPoint[] {
    if (line.length > LINE_LIMIT_CHARACTERS) return [];
    const text = cleanLine(line).trim();
    return this.#readJson(text, atMs) ?? this.#readText(text, atMs);
  }

  /** Reads an object at the end of a line: its series, or the message in it. Undefined for other text. */
  #readJson(text: string, at: number): SeriesPoint[] | undefined {
    const start = text.endsWith('}') ? text.indexOf('{') : -1;
    const value = start < 0 ? undefined : parseJson(text.slice(start));
    if (!isObject(value)) return undefined;
    const series = this.#readSeries(value);
    if (series) return [{ at, series }];
    const message = findMessage(value);
    return message === undefined ? undefined : this.#readText(message.trim(), at);
  }

  #readText(text: string, at: number): SeriesPoint[] {
    if (text === '' || text.length > SOLVER_LINE_LIMIT_CHARACTERS) return [];
    for (const reading of this.#prefixes.listReadings(text)) {
      const points = this.#readLine(reading.trimStart(), at);
      if (points) return points;
    }
    const behindPrefix = this.#prefixes.learn(text);
    return (behindPrefix === undefined ? undefined : this.#readLine(behindPrefix, at)) ?? [];
  }

  /** Returns the points of a line, at most one; undefined for a line of no solver. */
  #readLine(line: string, at: number): SeriesPoint[] | undefined {
    const isStart = this.#openSolves(line, at);
    for (const open of this.#open.values()) {
      const step = open.solve.read(line);
      if (step === undefined) continue;
      if (step.seconds !== undefined)
        open.startedAt = Math.min(open.startedAt, at - step.seconds * MS_PER_SECOND);
      return step.isNews ? [this.#createPoint(open, step, at)] : [];
    }
    return isStart ? [] : undefined;
  }

  #openSolves(line: string, at: number): boolean {
    let isStart = false;
    for (const { format, start, banner } of STARTS) {
      if (!start.test(line)) continue;
      isStart = true;
      const open = this.#open.get(format);
      // A banner begins a solve after any point; another first line begins one only after a finished solve.
      if (open && (open.number === undefined || !(open.solve.isFinished || banner.test(line)))) continue;
      const next: OpenSolve = {
        solve: new Solve(format, open?.solve.version),
        startedAt: at,
        number: undefined,
      };
      if (open?.solve.isOnlyPresolved) this.#replace(open, next);
      this.#open.set(format, next);
    }
    return isStart;
  }

  /** A presolve that several solves have in common is no solve. */
  #replace(open: OpenSolve, next: OpenSolve): void {
    next.number = open.number;
    const index = this.#listed.indexOf(open);
    if (index >= 0) this.#listed[index] = next;
  }

  #createPoint(open: OpenSolve, { series, phase, seconds }: SolveStep, at: number): SeriesPoint {
    if (open.number === undefined) {
      open.number = this.#count;
      this.#count += 1;
      if (this.#listed.length < SUMMARIES_MAX) this.#listed.push(open);
    }
    return {
      at,
      series: { ...series },
      ...(phase && { phase }),
      solver: open.solve.format.solver,
      solve: open.number,
      startedAt: open.startedAt,
      ...(seconds !== undefined && { seconds }),
    };
  }
}

/** A solve that may have lines yet. */
interface OpenSolve {
  solve: Solve;
  startedAt: number;
  /** Undefined until a line tells more than the version. */
  number: number | undefined;
}

/** Returns a reader of one log. Feed it every line in order, without line ends. */
export function createSeriesReader(): SeriesReader {
  return new LogReader();
}
