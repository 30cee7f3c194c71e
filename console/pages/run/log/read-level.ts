/** Reads the severity of lines of a log by the words that loggers and solvers write. */

/** The least severity of the visible lines. */
export const LOG_LEVELS = ['warning', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const WORDS: Record<LogLevel, RegExp> = {
  warning: /\b(?:warn(?:ing)?|error|fatal|critical|exception|traceback)\b/i,
  error: /\b(?:error|fatal|critical|exception|traceback)\b/i,
};

/** Returns the indexes of the lines with at least this severity; undefined for all lines. */
export function findLinesOfLevel(
  lines: readonly string[],
  level: LogLevel | undefined,
): readonly number[] | undefined {
  if (level === undefined) return undefined;
  const indexes: number[] = [];
  for (const [index, line] of lines.entries()) if (WORDS[level].test(line)) indexes.push(index);
  return indexes;
}
