/** Logs of SCIP. */
import { choosePhase, collectProgress, parseNumber, parsePercentage } from './numbers.ts';
import type { LogFormat, ParsedLine } from './progress.ts';

/** The columns of a row. Settings choose them, so each header is read. */
const KNOWN_COLUMNS = 40;

function splitColumns(line: string): string[] {
  return line.split('|', KNOWN_COLUMNS).map((column) => column.trim());
}

function parseRow(line: string, header: readonly string[]): ParsedLine | undefined {
  const columns = splitColumns(line);
  if (columns.length !== header.length || !/\ds$/.test(columns[0] ?? '')) return undefined;
  const read = (name: string) => columns[header.indexOf(name)];
  const nodes = parseNumber(read('node'));
  const progress = collectProgress({
    objective: parseNumber(read('primalbound')),
    bound: parseNumber(read('dualbound')),
    gap: parsePercentage(read('gap')),
    nodes,
  });
  // SCIP counts the root as the first node.
  return { progress, phase: choosePhase(nodes === 1 ? 0 : nodes) };
}

function parseSummary(line: string): ParsedLine | undefined {
  const [, name, value] =
    /^(SCIP Status|Solving Nodes|Primal Bound|Dual Bound|Gap)\s+:\s+(\S+)/.exec(line) ?? [];
  if (name === undefined) return undefined;
  const progress = collectProgress({
    objective: name === 'Primal Bound' ? parseNumber(value) : undefined,
    bound: name === 'Dual Bound' ? parseNumber(value) : undefined,
    gap: name === 'Gap' ? parsePercentage(`${value}%`) : undefined,
    // After restarts: `Solving Nodes : 1 (total of 4 nodes in 3 runs)`.
    nodes:
      name === 'Solving Nodes' ? parseNumber(/\(total of (\d+) nodes/.exec(line)?.[1] ?? value) : undefined,
  });
  return { progress, phase: 'finished' };
}

function parseSolution(line: string): ParsedLine | undefined {
  const found = /^feasible solution found by .{1,60} heuristic after \S+ seconds, objective value (\S+)/.exec(
    line,
  );
  const objective = parseNumber(found?.[1]);
  return objective === undefined ? undefined : { progress: { objective } };
}

/** The log of SCIP 6 to 10. */
export const SCIP_FORMAT: LogFormat = {
  solver: 'SCIP',
  start: /^\s*(?:SCIP version|original problem has \d|time \| node\s*\|)/,
  banner: /^\s*original problem has \d/,
  createParser: () => {
    let header: readonly string[] = [];
    let hasSolution = true;
    return (line) => {
      if (line.includes('|')) {
        if (!/^\s*time \|/.test(line)) return parseRow(line, header);
        header = splitColumns(line);
        return { progress: {} };
      }
      if (line.startsWith('presolving')) return { progress: {}, phase: 'presolve' };
      const parsed = parseSummary(line);
      if (line.startsWith('Primal Bound')) hasSolution = parsed?.progress.objective !== undefined;
      // SCIP prints a gap of 0 % for an infeasible model.
      if (line.startsWith('Gap') && !hasSolution) return { progress: {}, phase: 'finished' };
      return parsed ?? parseSolution(line);
    };
  },
};
