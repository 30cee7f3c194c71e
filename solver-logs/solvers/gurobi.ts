/** Logs of Gurobi. */
import { choosePhase, collectProgress, isGap, parseNumber, parsePercentage, splitTokens } from './numbers.ts';
import type { LogFormat, ParsedLine } from './progress.ts';

/** A row with a new solution lacks the columns of the current node; `*` rows have its depth. */
const SHORTEST_ROW = 7;
const LONGEST_ROW = 10;

function parseRow(line: string): ParsedLine | undefined {
  if (!/\ds\s*$/.test(line)) return undefined;
  // The mark of a new solution can touch the number of nodes: `H12345`.
  const tokens = splitTokens(line.replace(/^\s*[H*]/, ''));
  if (tokens.length < SHORTEST_ROW || tokens.length > LONGEST_ROW) return undefined;
  const [explored, open] = tokens;
  const [objective, bound, gap, , time] = tokens.slice(-5);
  const nodes = parseNumber(explored);
  if (nodes === undefined || parseNumber(open) === undefined) return undefined;
  if (!isGap(gap) || !/^\d+s$/.test(time ?? '')) return undefined;
  const progress = collectProgress({
    objective: parseNumber(objective),
    bound: parseNumber(bound),
    gap: parsePercentage(gap),
    nodes,
  });
  return { progress, phase: choosePhase(nodes) };
}

function parseSummary(line: string): ParsedLine | undefined {
  const [, objective, bound, gap] = /^Best objective (\S+), best bound (\S+), gap (\S+)/.exec(line) ?? [];
  if (gap !== undefined) {
    const progress = collectProgress({
      objective: parseNumber(objective),
      bound: parseNumber(bound),
      gap: parsePercentage(gap),
      nodes: undefined,
    });
    return { progress, phase: 'finished' };
  }
  const [, explored] = /^Explored (\S+) nodes? /.exec(line) ?? [];
  const nodes = parseNumber(explored);
  if (nodes !== undefined) return { progress: { nodes }, phase: 'finished' };
  const optimum = parseNumber(/^Optimal objective\s+(\S+)$/.exec(line)?.[1]);
  return optimum === undefined ? undefined : { progress: { objective: optimum }, phase: 'finished' };
}

function parseEvent(line: string): ParsedLine | undefined {
  const found =
    /^(?:Found heuristic solution: objective|(?:Loaded user MIP start|User MIP start produced solution) with objective) (\S+)/;
  const objective = parseNumber(found.exec(line)?.[1]);
  if (objective !== undefined) return { progress: { objective } };
  if (/^Presolve (?:time:|removed)/.test(line)) return { progress: {}, phase: 'presolve' };
  if (line.startsWith('Root relaxation:')) return { progress: {}, phase: 'root' };
  return undefined;
}

/** The log of Gurobi 7 to 13. */
export const GUROBI_FORMAT: LogFormat = {
  solver: 'Gurobi',
  start: /^\s*(?:Gurobi Optimizer version|Optimize a model with|Expl Unexpl \|)/,
  banner: /^\s*(?:Gurobi Optimizer version|Optimize a model with)/,
  createParser: () => (line) => parseRow(line) ?? parseEvent(line) ?? parseSummary(line),
};
