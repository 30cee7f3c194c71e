/** Logs of GLPK. */
import { collectProgress, parseNumber, parsePercentage } from './numbers.ts';
import type { LogFormat, ParsedLine, SolvePhase } from './progress.ts';

/** Row: `+ 579: mip = 2987 >= 2661 10.9% (99; 57)`, with the open and the closed nodes at its end. */
const ROW =
  /^\+\s*\d+: (?:mip =|>>>>>)\s+(not found yet|\S+) [<>]=\s+(tree is empty|\S+)\s+(?:(\S+%)\s+)?\(\d+; (\d+)\)/;

const PHASES: readonly (readonly [RegExp, SolvePhase])[] = [
  [/^Preprocessing\.\.\./, 'presolve'],
  [/^Solving LP relaxation\.\.\./, 'root'],
  [/^Integer optimization begins\.\.\./, 'search'],
  [/^INTEGER OPTIMAL SOLUTION FOUND|SEARCH TERMINATED$|^PROBLEM HAS NO /, 'finished'],
];

function parseRow(line: string): ParsedLine | undefined {
  const [, best, limit, gap, closed] = ROW.exec(line) ?? [];
  if (closed === undefined) return undefined;
  const objective = parseNumber(best);
  const progress = collectProgress({
    objective,
    bound: limit === 'tree is empty' ? objective : parseNumber(limit),
    gap: parsePercentage(gap),
    nodes: parseNumber(closed),
  });
  return { progress, phase: 'search' };
}

/** The log of GLPK 4 and 5. */
export const GLPK_FORMAT: LogFormat = {
  solver: 'GLPK',
  start: /^\s*(?:GLPK Integer Optimizer|GLPSOL|Integer optimization begins\.\.\.)/,
  banner: /^\s*GLPK Integer Optimizer/,
  createParser: () => (line) => {
    if (line.startsWith('+')) return parseRow(line);
    const objective = parseNumber(/^Solution found by heuristic: (\S+)$/.exec(line)?.[1]);
    if (objective !== undefined) return { progress: { objective } };
    const [, phase] = PHASES.find(([pattern]) => pattern.test(line)) ?? [];
    return phase === undefined ? undefined : { progress: {}, phase };
  },
};
