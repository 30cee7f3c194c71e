/**
 * Reads the log of an app line by line and returns the points of its series: the progress of known solvers, and
 * `{"series": …}` lines. The reader holds one small state for each solver, whatever the log's length. A solver's parser
 * sees lines only after a line that this solver alone writes, so that tables of other programs give no points.
 */
import { CBC_FORMAT } from './solvers/cbc.ts';
import { CP_SAT_FORMAT } from './solvers/cp-sat.ts';
import { CPLEX_FORMAT } from './solvers/cplex.ts';
import { GLPK_FORMAT } from './solvers/glpk.ts';
import { GUROBI_FORMAT } from './solvers/gurobi.ts';
import { HIGHS_FORMAT } from './solvers/highs.ts';
import type { LogFormat, ParsedLine, Progress, SolvePhase } from './solvers/progress.ts';
import { SCIP_FORMAT } from './solvers/scip.ts';

const FORMATS: readonly LogFormat[] = [
  HIGHS_FORMAT,
  CP_SAT_FORMAT,
  GUROBI_FORMAT,
  CBC_FORMAT,
  SCIP_FORMAT,
  CPLEX_FORMAT,
  GLPK_FORMAT,
];
/** The longest line of a solver in the test logs has 260 characters. Longer lines are not parsed. */
const SOLVER_LINE_LIMIT_CHARACTERS = 1_024;

/** Bounds the work of prefixes and JSON. */
const LINE_LIMIT_CHARACTERS = 16_384;

const TIMESTAMP =
  /^\s{0,8}\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?(?=[\s:|-])/;
/**
 * A level, with the logger's name where it is certain: `logger - INFO - `, `INFO:logger:`, `INFO [logger] `, and
 * `INFO package.logger: `. Solvers write `objective: 12` themselves, so that a name before a colon needs a dot.
 */
const LEVEL =
  /^[\s|:-]{0,8}(?:\[?[\w.]{1,60}\]?[\s|:-]{1,8})?\[?(?:DEBUG|INFO|WARN|WARNING|ERROR)\b\]?(?::[\w.]{1,60}(?=:)|[\s|:-]{1,8}(?:\[[\w.]{1,60}\]|\w{1,60}(?:\.\w{1,60}){1,4}(?=:)))?/;
const SEPARATOR = /^\s{0,8}[-|:]\s?/;
/** Begins a control sequence of a terminal. */
const CONTROL_SEQUENCE = '\u001b[';

/** Names in one log, to bound the memory of charts. */
const NAME_LIMIT = 20;
const NAME_LIMIT_CHARACTERS = 64;

/** Numbers at one time. Names of solver points: `objective`, `bound`, `gap` (ratio) and `nodes`. */
export interface SeriesPoint {
  /** The time that the caller gave with the line, in milliseconds. */
  at: number;
  series: Record<string, number>;
  /** The solver's phase. Undefined for `{"series": …}` lines. */
  phase?: SolvePhase;
  /** The solver's name. Undefined for `{"series": …}` lines. */
  solver?: string;
  /** Counts the solves of the log, from 0, over all solvers. Undefined for `{"series": …}` lines. */
  solve?: number;
}

/** A streaming reader of one log. */
export interface SeriesReader {
  /** Returns the points of a line, at most one. Never throws. `atMs` becomes the time of the point. */
  push(line: string, atMs: number): SeriesPoint[];
}

interface Solve {
  format: LogFormat;
  parse: (line: string) => ParsedLine | undefined;
  /** Undefined until the first point. */
  index: number | undefined;
  phase: SolvePhase | undefined;
  objective: number | undefined;
  bound: number | undefined;
}

function openSolve(format: LogFormat): Solve {
  return {
    format,
    parse: format.createParser(),
    index: undefined,
    phase: undefined,
    objective: undefined,
    bound: undefined,
  };
}

/** A banner begins a solve after any point; another first line begins one only after a finished solve. */
function beginsSolve(solve: Solve, line: string): boolean {
  if (solve.phase !== 'finished' && solve.index === undefined) return false;
  return (solve.phase === 'finished' ? solve.format.start : solve.format.banner).test(line);
}

/** Returns the progress with the gap |objective − bound| / |objective| where the solver prints none. */
function completeGap(progress: Progress, solve: Solve): Progress {
  if (progress.gap !== undefined) return progress;
  if (progress.objective === undefined && progress.bound === undefined) return progress;
  const { objective, bound } = solve;
  if (objective === undefined || bound === undefined) return progress;
  if (objective === bound) return { ...progress, gap: 0 };
  return objective === 0 ? progress : { ...progress, gap: Math.abs((objective - bound) / objective) };
}

/** Returns a reader of one log. Feed it every line in order, without line ends. */
export function createSeriesReader(): SeriesReader {
  const solves = new Map<LogFormat, Solve>();
  const parseJsonSeries = createJsonSeriesParser();
  let solveCount = 0;

  const openSolves = (line: string): void => {
    for (const format of FORMATS) {
      const solve = solves.get(format);
      if (solve ? beginsSolve(solve, line) : format.start.test(line)) solves.set(format, openSolve(format));
    }
  };

  const createPoint = (solve: Solve, parsed: ParsedLine, at: number): SeriesPoint[] => {
    const hasNewPhase = parsed.phase !== undefined && parsed.phase !== solve.phase;
    solve.phase = parsed.phase ?? solve.phase;
    solve.objective = parsed.progress.objective ?? solve.objective;
    solve.bound = parsed.progress.bound ?? solve.bound;
    const progress = completeGap(parsed.progress, solve);
    if (!hasNewPhase && Object.keys(progress).length === 0) return [];
    if (solve.index === undefined) {
      solve.index = solveCount;
      solveCount += 1;
    }
    const { phase, format, index } = solve;
    return [{ at, series: { ...progress }, ...(phase && { phase }), solver: format.solver, solve: index }];
  };

  const pushSolverLine = (line: string, at: number): SeriesPoint[] => {
    openSolves(line);
    for (const solve of solves.values()) {
      const parsed = solve.parse(line);
      if (parsed) return createPoint(solve, parsed, at);
    }
    return [];
  };

  return {
    push: (line, atMs) => {
      if (line.length > LINE_LIMIT_CHARACTERS) return [];
      const text = stripLogPrefix(line).trim();
      if (text.startsWith('{')) {
        const series = parseJsonSeries(text);
        return series ? [{ at: atMs, series }] : [];
      }
      return text === '' || text.length > SOLVER_LINE_LIMIT_CHARACTERS ? [] : pushSolverLine(text, atMs);
    },
  };
}

function stripColours(line: string): string {
  const [first = '', ...parts] = line.split(CONTROL_SEQUENCE);
  return first + parts.map((part) => part.replace(/^[\d;]{0,20}m/, '')).join('');
}

/**
 * Returns the line without colours, and without a timestamp, level and logger before it. Every repetition has a
 * bound, so that the time of a match has one.
 */
function stripLogPrefix(line: string): string {
  const text = line.includes(CONTROL_SEQUENCE) ? stripColours(line) : line;
  const timestamp = TIMESTAMP.exec(text)?.[0].length ?? 0;
  const level = LEVEL.exec(text.slice(timestamp))?.[0].length ?? 0;
  const prefix = timestamp + level;
  return prefix === 0 ? text : text.slice(prefix).replace(SEPARATOR, '');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns a parser of the lines of one log. The parser returns the numbers of a line, or undefined without any. It
 * ignores values that are not finite numbers, and new names after the first 20 of the log.
 */
function createJsonSeriesParser(): (line: string) => Record<string, number> | undefined {
  const names = new Set<string>();
  const isAllowed = (name: string): boolean => {
    if (names.has(name)) return true;
    if (names.size >= NAME_LIMIT || name === '' || name.length > NAME_LIMIT_CHARACTERS) return false;
    names.add(name);
    return true;
  };
  return (line) => {
    if (!line.includes('"series"')) return undefined;
    const value = parseJson(line);
    if (!isObject(value) || !isObject(value.series)) return undefined;
    const numbers: [string, number][] = [];
    for (const [name, number] of Object.entries(value.series)) {
      if (typeof number === 'number' && Number.isFinite(number) && isAllowed(name))
        numbers.push([name, number]);
    }
    return numbers.length === 0 ? undefined : Object.fromEntries(numbers);
  };
}
