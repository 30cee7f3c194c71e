/** Logs of HiGHS. */
import { choosePhase, collectProgress, isGap, parseNumber, parsePercentage, splitTokens } from './numbers.ts';
import type { LogFormat, ParsedLine } from './progress.ts';

/** Row: `[source] proc queue leaves expl% bound objective gap cuts inLp conflicts iterations time`. */
const ROW_COLUMNS = 12;

function parseRow(line: string): ParsedLine | undefined {
  if (!/\d\.\d+s\s*$/.test(line)) return undefined;
  const tokens = splitTokens(line);
  if (tokens.length > ROW_COLUMNS) tokens.splice(0, tokens.length - ROW_COLUMNS);
  const [processed, , , explored, bound, objective, gap] = tokens;
  if (tokens.length < ROW_COLUMNS || !explored?.endsWith('%') || !isGap(gap)) return undefined;
  const nodes = parseNumber(processed);
  const progress = collectProgress({
    objective: parseNumber(objective),
    bound: parseNumber(bound),
    gap: parsePercentage(gap),
    nodes,
  });
  return nodes === undefined ? undefined : { progress, phase: choosePhase(nodes) };
}

/** Returns a line of the report after the solve: `Primal bound  2940`. */
function parseReport(line: string): ParsedLine | undefined {
  const [, name, value] = /^\s*(Primal bound|Dual bound|Gap|Nodes)\s+([-+\d.][\w.+%-]*|inf)/.exec(line) ?? [];
  if (name === undefined) return undefined;
  const progress = collectProgress({
    objective: name === 'Primal bound' ? parseNumber(value) : undefined,
    bound: name === 'Dual bound' ? parseNumber(value) : undefined,
    gap: name === 'Gap' ? parsePercentage(value) : undefined,
    nodes: name === 'Nodes' ? parseNumber(value) : undefined,
  });
  return { progress, phase: 'finished' };
}

/** The log of HiGHS 1.x. */
export const HIGHS_FORMAT: LogFormat = {
  solver: 'HiGHS',
  start: /^\s*(?:Running HiGHS|Presolving model|Src\s+Proc\. InQueue)/,
  banner: /^\s*(?:Running HiGHS|Presolving model)/,
  createParser: () => {
    let isReport = false;
    return (line) => {
      if (isReport) return parseReport(line);
      if (line.startsWith('Presolving model')) return { progress: {}, phase: 'presolve' };
      if (line.startsWith('Solving report')) {
        isReport = true;
        return { progress: {}, phase: 'finished' };
      }
      const [, value] = /^Objective value\s+:\s+(\S+)$/.exec(line) ?? [];
      const objective = parseNumber(value);
      if (objective !== undefined) return { progress: { objective }, phase: 'finished' };
      return parseRow(line);
    };
  },
};
