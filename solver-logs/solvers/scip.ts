/** Logs of SCIP. */
import { choosePhase, collectFacts, type Facts, type LogFormat } from './format.ts';
import { parseNumber, parsePercentage } from './numbers.ts';

const COLUMNS_MAX = 40;

function splitColumns(line: string): string[] {
  return line.split('|', COLUMNS_MAX).map((column) => column.trim());
}

/** Settings choose the columns, so each header is read. */
function readRow(line: string, header: readonly string[]): Facts | undefined {
  const columns = splitColumns(line);
  const [time = ''] = columns;
  if (columns.length !== header.length || !/\ds$/.test(time)) return undefined;
  const read = (name: string) => columns[header.indexOf(name)];
  const nodes = parseNumber(read('node'));
  return collectFacts({
    objective: parseNumber(read('primalbound')),
    bound: parseNumber(read('dualbound')),
    gap: parsePercentage(read('gap')),
    nodes,
    seconds: parseNumber(/([\d.]+)s$/.exec(time)?.[1]),
    // SCIP counts the root as the first node.
    phase: choosePhase(nodes === 1 ? 0 : nodes),
  });
}

/** The log of SCIP 6 to 10. Its report states the status before the numbers. */
export const SCIP_FORMAT: LogFormat = {
  solver: 'SCIP',
  banner: /original problem has \d/,
  start: /SCIP version \d|presolving:$|time \| node\s*\|/,
  rules: [
    { line: /^SCIP version (?<version>[\d.]+)/ },
    {
      line: /^time \|/,
      read: (_, memory, { input }) => {
        memory.columns = splitColumns(input);
        return {};
      },
    },
    { line: /^[^|]*\ds\s*\|/, read: (_, { columns }, { input }) => readRow(input, columns) },
    { line: /^presolving/, facts: { phase: 'presolve' } },
    { line: /^\((?<seconds>[\d.]+)s\) (?!Starting |No )/ },
    {
      line: /^feasible solution found by .{1,60} heuristic after (?<seconds>\S+) seconds, objective value (?<objective>\S+)/,
    },
    { line: /^SCIP Status\s+:.*\[(?<status>[^\]]+)\]/, facts: { phase: 'finished' } },
    { line: /^Solving Time \(sec\)\s*:\s+(?<seconds>\S+)/, facts: { phase: 'finished' } },
    // After restarts: `Solving Nodes : 1 (total of 4 nodes in 3 runs)`.
    { line: /^Solving Nodes\s+:.*\(total of (?<nodes>\d+) nodes/, facts: { phase: 'finished' } },
    { line: /^Solving Nodes\s+:\s+(?<nodes>\S+)/, facts: { phase: 'finished' } },
    { line: /^Primal Bound\s+:\s+(?<objective>\S+)/, facts: { phase: 'finished' } },
    { line: /^Dual Bound\s+:\s+(?<bound>\S+)/, facts: { phase: 'finished' } },
    {
      // SCIP prints a gap of 0 % for a model without a solution, and `Gap : 5.26 %` otherwise.
      line: /^Gap\s+:\s+(?<value>\S+) %/,
      facts: { phase: 'finished' },
      read: (facts, _, { groups }) => ({
        ...facts,
        ...collectFacts({ gap: parsePercentage(`${groups?.value}%`) }),
      }),
    },
  ],
};
