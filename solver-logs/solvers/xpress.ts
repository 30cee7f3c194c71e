/** Logs of FICO Xpress. */
import { collectFacts, type Facts, type LogFormat, type RuleMemory } from './format.ts';

/** The number of an ended linear program is its objective, and the relaxation of a model with integers. */
function readProgram({ objective }: Facts, { isInteger }: RuleMemory): Facts {
  return isInteger
    ? collectFacts({ bound: objective, phase: 'root' })
    : collectFacts({ objective, status: 'optimal', phase: 'finished' });
}

/** `Minimizing MILP model using 1 thread`: a model with integers begins with an `M`. */
function readKind(facts: Facts, memory: RuleMemory, { groups }: RegExpExecArray): Facts {
  memory.isInteger = groups?.kind?.startsWith('M') ?? false;
  return { ...facts, direction: groups?.sense === 'Maximizing' ? 1 : -1 };
}

/** The log of Xpress 8 and 9, and of its Optimizer 30, which was the last of its own numbers. */
export const XPRESS_FORMAT: LogFormat = {
  solver: 'Xpress',
  banner: /FICO Xpress(?:-Optimizer 64-bit)? v\d/,
  start: /Xpress Optimizer v\d/,
  rules: [
    { line: /^FICO Xpress(?:-Optimizer 64-bit)? v(?<version>[\d.]+)/ },
    {
      line: /^(?<sense>Minimizing|Maximizing) (?<kind>[A-Z]+) \S+(?: using (?:up to )?(?<threads>\d+) threads?)?/,
      read: readKind,
    },
    { line: /^RANDOMSEED = (?<seed>\d+)/ },
    { line: /^Presolved problem has:/, facts: { phase: 'presolve' } },
    { line: /^\*\*\* Solution found:\s+(?<objective>\S+)\s+Time:\s+(?<seconds>\S+)/ },
    { line: /^Starting root cutting & heuristics/, facts: { phase: 'root' } },
    { line: /^Its Type\s+BestSoln\s+BestBound/, opens: 'cuts' },
    { line: /^Node\s+BestSoln\s+BestBound/, opens: 'tree', facts: { phase: 'search' } },
    // [heuristic | iteration type] objective bound solutions [added deleted] gap infeasibilities time
    {
      line: /^(?:[A-Za-z*]|\d+\s+[A-Z])\s+(?<objective>\S+)\s+(?<bound>\S+)\s+\d+\s+(?:\d+\s+\d+\s+)?(?<gap>[\d.]+%|-+)\s+\d+\s+(?<seconds>\d+)$/,
      section: 'cuts',
    },
    // Before the first solution, Xpress 8 leaves its column and that of the gap empty.
    {
      line: /^\d+\s+[A-Z]\s+(?<bound>\S+)\s+0\s+\d+\s+\d+\s+\d+\s+(?<seconds>\d+)$/,
      section: 'cuts',
    },
    { line: /^\d+\s+(?<bound>\S+)\s+0\s+\d+\s+\d+\s+\d+\s+(?<seconds>\d+)$/, section: 'tree' },
    // [heuristic] node objective bound solutions active depth gap infeasibilities time
    {
      line: /^(?:[A-Za-z*]+\s+)?(?<nodes>\d+)\s+(?<objective>\S+)\s+(?<bound>\S+)\s+\d+\s+\d+\s+\d+\s+(?<gap>[\d.]+%|-+)\s+\d+\s+(?<seconds>\d+)$/,
      section: 'tree',
    },
    { line: /^STOPPING - (?<status>\S+ limit)/ },
    {
      line: /^\*\*\* Search completed \*\*\*(?:\s+Time:\s+(?<seconds>\d+)\s+Nodes:\s+(?<nodes>\d+))?/,
      facts: { phase: 'finished', status: 'optimal' },
      opens: 'report',
    },
    {
      line: /^\*\*\* Search unfinished \*\*\*(?:\s+Time:\s+(?<seconds>\S+)(?:\s+Nodes:\s+(?<nodes>\d+))?)?/,
      facts: { phase: 'finished', status: 'feasible' },
      opens: 'report',
    },
    {
      line: /^(?:The problem|Problem) is (?:integer )?(?<status>infeasible|unbounded)/,
      facts: { phase: 'finished' },
    },
    { line: /^Final objective\s+: (?<objective>\S+)/, read: readProgram },
    { line: /^Final MIP objective\s+: (?<objective>\S+)/, section: 'report' },
    { line: /^Best integer solution found is\s+(?<objective>\S+)/, section: 'report' },
    { line: /^Best bound is\s+(?<bound>\S+)/, section: 'report' },
    { line: /^Final MIP bound\s+: (?<bound>\S+)/, section: 'report' },
    { line: /^Solution time \/ primaldual integral :\s+(?<seconds>[\d.]+)s/, facts: { phase: 'finished' } },
    { line: /^\d+ simplex iterations in \S+ seconds at time (?<seconds>\d+)/ },
    { line: /^Number of solutions found \/ nodes\s+:\s+\d+ \/\s+(?<nodes>\d+)/ },
  ],
};
