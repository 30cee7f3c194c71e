/** Logs of Gurobi. */
import { choosePhase, collectFacts, type Facts, type LogFormat } from './format.ts';
import { parseNumber, parsePercentage, splitTokens } from './numbers.ts';

/** A row with a new solution lacks the columns of the current node; `*` rows have its depth. */
const SHORTEST_ROW = 7;
const LONGEST_ROW = 10;

function readRow(line: string): Facts | undefined {
  // The mark of a new solution can touch the number of nodes: `H12345`.
  const tokens = splitTokens(line.replace(/^[H*]/, ''));
  if (tokens.length < SHORTEST_ROW || tokens.length > LONGEST_ROW) return undefined;
  const nodes = parseNumber(tokens[0]);
  const [objective, bound, gap = '', , time = ''] = tokens.slice(-5);
  if (nodes === undefined || parseNumber(tokens[1]) === undefined || !/^(?:[\d.]+%|-)$/.test(gap))
    return undefined;
  return collectFacts({
    objective: parseNumber(objective),
    bound: parseNumber(bound),
    gap: parsePercentage(gap),
    nodes,
    seconds: parseNumber(time.slice(0, -1)),
    phase: choosePhase(nodes),
  });
}

/** The log of Gurobi 7 to 13. */
export const GUROBI_FORMAT: LogFormat = {
  solver: 'Gurobi',
  banner: /Gurobi Optimizer version |Optimize a model with |Multi-objectives: optimize objective \d/,
  start: /Expl Unexpl \|/,
  rules: [
    { line: /^Gurobi Optimizer version (?<version>[\d.]+)/ },
    { line: /^Thread count: .*using up to (?<threads>\d+) threads/ },
    { line: /^Seed\s+(?<seed>\d+)$/ },
    { line: /^Optimize a model with .*\(Max\)$/, facts: { direction: 1 } },
    { line: /^Optimize a model with .*\(Min\)$/, facts: { direction: -1 } },
    {
      line: /^Variable types: \d+ continuous, [1-9]/,
      read: (facts, memory) => {
        memory.isInteger = true;
        return facts;
      },
    },
    { line: /^[H*]?\s*\d.*\ds$/, read: (_, __, { input }) => readRow(input) },
    {
      line: /^(?:Found heuristic solution: objective|(?:Loaded user MIP start|User MIP start produced solution) with objective) (?<objective>\S+)/,
    },
    { line: /^Presolve (?:time:|removed)/, facts: { phase: 'presolve' } },
    { line: /^Root relaxation: objective (?<bound>\S+),/, facts: { phase: 'root' } },
    { line: /^Root relaxation:/, facts: { phase: 'root' } },
    { line: /^Explored (?<nodes>\S+) nodes? .* in (?<seconds>\S+) seconds/, facts: { phase: 'finished' } },
    { line: /^(?:Solved in|Barrier solved model in|Stopped in) \S+ iterations and (?<seconds>\S+) seconds/ },
    {
      // Of a model with integers it is the relaxation at the root.
      line: /^Optimal objective\s+(?<objective>\S+)$/,
      read: ({ objective }, { isInteger }) =>
        collectFacts(isInteger ? { bound: objective } : { objective, status: 'optimal', phase: 'finished' }),
    },
    {
      line: /^(?:Model is )?(?<status>infeasible(?: or unbounded)?|unbounded)(?: model)?$/i,
      facts: { phase: 'finished' },
    },
    { line: /^Optimal solution found \(tolerance/, facts: { phase: 'finished', status: 'optimal' } },
    {
      line: /^(?<status>(?:Time|Memory|Node|Iteration|Solution|Work) limit reached|Solve interrupted|Numerical trouble encountered)$/,
      facts: { phase: 'finished' },
    },
    {
      line: /^Best objective (?<objective>\S+), best bound (?<bound>\S+), gap (?<gap>\S+)/,
      facts: { phase: 'finished' },
    },
  ],
};
