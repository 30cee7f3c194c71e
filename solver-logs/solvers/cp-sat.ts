/** Logs of CP-SAT. */
import { collectProgress, parseNumber } from './numbers.ts';
import type { LogFormat, ParsedLine } from './progress.ts';

/**
 * Returns the bound of `next:[low,high]`, the range of better objectives. The bound is the end that is farther from the
 * best objective: the low end minimises, the high end maximises. Before a solution the best objective is infinite with
 * the sign of the sense.
 */
function chooseBound(best: string, low: string, high: string): number | undefined {
  if (best === 'inf') return parseNumber(low);
  if (best === '-inf') return parseNumber(high);
  const objective = parseNumber(best);
  const lowest = parseNumber(low);
  if (objective === undefined || lowest === undefined) return undefined;
  return lowest > objective ? parseNumber(high) : lowest;
}

/** Returns `#1 0.01s best:9181 next:[706,9180] worker` or `#Bound …`. */
function parseRow(line: string): ParsedLine | undefined {
  const [, best, low, high] =
    /^#(?:\d+|Bound)\s+\S+\s+best:(\S+)\s+next:\[([^,\]\s]*),?([^,\]\s]*)\]/.exec(line) ?? [];
  if (best === undefined || low === undefined || high === undefined) return undefined;
  const objective = parseNumber(best);
  // An empty range proves the best solution optimal.
  const bound = low === '' ? objective : chooseBound(best, low, high);
  return {
    progress: collectProgress({ objective, bound, gap: undefined, nodes: undefined }),
    phase: 'search',
  };
}

function parseSummary(line: string): ParsedLine | undefined {
  const [, name, value] = /^(objective|best_bound): (\S+)/.exec(line) ?? [];
  const number = parseNumber(value);
  if (name === undefined || number === undefined) return undefined;
  return { progress: name === 'objective' ? { objective: number } : { bound: number }, phase: 'finished' };
}

/** The log of CP-SAT 9 (`log_search_progress`). */
export const CP_SAT_FORMAT: LogFormat = {
  solver: 'CP-SAT',
  start: /^\s*(?:Starting CP-SAT solver|#(?:\d+|Bound)\s+[\d.]+s\s+best:)/,
  banner: /^\s*Starting CP-SAT solver/,
  createParser: () => {
    let isSummary = false;
    return (line) => {
      if (line.startsWith('#')) return parseRow(line);
      if (isSummary) return parseSummary(line);
      if (line.startsWith('Starting presolve')) return { progress: {}, phase: 'presolve' };
      if (/^Starting search/i.test(line)) return { progress: {}, phase: 'search' };
      if (!line.startsWith('CpSolverResponse summary')) return undefined;
      isSummary = true;
      return { progress: {}, phase: 'finished' };
    };
  },
};
