/** The data that parsers of solver logs return. */

/** The phase of a solve. `search` is branch and bound, or the workers of CP-SAT. */
export type SolvePhase = 'presolve' | 'root' | 'search' | 'finished';

/** The numbers of one log line, in the sense of the model. A missing number is infinite, unknown or not in the line. */
export interface Progress {
  /** Objective of the best solution. */
  objective?: number;
  /** Best proven bound of the objective. */
  bound?: number;
  /** Relative gap as a ratio, as the solver prints it: `0.05` is 5 %. */
  gap?: number;
  /** Explored nodes. */
  nodes?: number;
}

/** One recognised line. A line can be recognised without numbers. */
export interface ParsedLine {
  progress: Progress;
  /** Phase from this line on. Undefined: unchanged. */
  phase?: SolvePhase;
}

/** The log format of one solver. */
export interface LogFormat {
  solver: string;
  /** Matches a line that only this solver writes, before or among its first lines with numbers. */
  start: RegExp;
  /** Matches the first line of a solve, even if the solve before it did not finish. */
  banner: RegExp;
  /** Returns the parser of one solve. The parser returns undefined for a line that is not of this solver. */
  createParser: () => (line: string) => ParsedLine | undefined;
}
