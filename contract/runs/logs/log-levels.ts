/** Reads the severity of lines of a log by the words that loggers and solvers write. Pure. */

export const LOG_LEVELS = ['info', 'warning', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The least severity of the lines that a reader wants. */
export const LEAST_LOG_LEVELS = ['warning', 'error'] as const;
export type LeastLogLevel = (typeof LEAST_LOG_LEVELS)[number];

/** Words of this severity or a greater one, in any case; global, to search a text. The time of a match is linear. */
export const LEVEL_PATTERNS: Record<LeastLogLevel, RegExp> = {
  warning: /\b(?:warn(?:ing)?|error|fatal|critical|exception|traceback)\b/gi,
  error: /\b(?:error|fatal|critical|exception|traceback)\b/gi,
};

/** Returns true for a line with at least this severity. */
export function hasLogLevel(line: string, level: LeastLogLevel): boolean {
  // Unlike `test`, `search` begins at the first character although the pattern is global.
  return line.search(LEVEL_PATTERNS[level]) !== -1;
}

/** Returns the severity of a line: `info` without a word of another one. */
export function readLogLevel(line: string): LogLevel {
  if (!hasLogLevel(line, 'warning')) return 'info';
  return hasLogLevel(line, 'error') ? 'error' : 'warning';
}
