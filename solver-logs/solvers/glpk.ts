/** Logs of GLPK. */
import { collectFacts, type Facts, type LogFormat, type RuleMemory } from './format.ts';

/** The objective of the last simplex row is believed once the program is solved. */
function readOptimalProgram(facts: Facts, { candidate, isInteger }: RuleMemory): Facts {
  return isInteger
    ? collectFacts({ bound: candidate, phase: 'root' })
    : collectFacts({ ...facts, objective: candidate });
}

/** The log of GLPK 4 and 5. */
export const GLPK_FORMAT: LogFormat = {
  solver: 'GLPK',
  banner: /GLPK Integer Optimizer|GLPSOL/,
  start: /GLPK Simplex Optimizer|Integer optimization begins\.\.\./,
  rules: [
    { line: /^(?:GLPK (?:Integer|Simplex) Optimizer|GLPSOL.* Solver) v?(?<version>[\d.]+)/ },
    {
      line: /^(?:[1-9]\d* integer variables?|Solving LP relaxation|Integer optimization begins)/,
      read: (_, memory, { input }) => {
        memory.isInteger = true;
        if (input.startsWith('I')) return { phase: 'search' };
        return input.startsWith('S') ? { phase: 'root' } : {};
      },
    },
    {
      line: /^[*#]?\s*\d+: obj =\s+(?<objective>\S+)/,
      read: ({ objective }, memory) => {
        memory.candidate = objective;
        return {};
      },
    },
    { line: /^Preprocessing\.\.\./, facts: { phase: 'presolve' } },
    {
      line: /^OPTIMAL LP SOLUTION FOUND/,
      facts: { phase: 'finished', status: 'optimal' },
      read: readOptimalProgram,
    },
    { line: /^Solution found by heuristic: (?<objective>\S+)$/ },
    // `+ 579: mip = 2987 >= 2661 10.9% (99; 57)`, with the open and the closed nodes at its end.
    {
      line: /^\+\s*\d+: (?:mip =|>>>>>)\s+(?<objective>\S+) [<>]=\s+tree is empty\s+(?<gap>\S+%)?\s+\(\d+; (?<nodes>\d+)\)/,
      facts: { phase: 'search' },
      read: (facts) => collectFacts({ ...facts, bound: facts.objective }),
    },
    {
      line: /^\+\s*\d+: (?:mip =|>>>>>)\s+(?:not found yet|(?<objective>\S+)) [<>]=\s+(?<bound>\S+)\s+(?:(?<gap>\S+%)\s+)?\(\d+; (?<nodes>\d+)\)/,
      facts: { phase: 'search' },
    },
    { line: /^INTEGER OPTIMAL SOLUTION FOUND/, facts: { phase: 'finished', status: 'optimal' } },
    {
      line: /^RELATIVE MIP GAP TOLERANCE REACHED; SEARCH TERMINATED/,
      facts: { phase: 'finished', status: 'optimal' },
    },
    { line: /^(?<status>.+); SEARCH TERMINATED$/, facts: { phase: 'finished' } },
    {
      line: /^(?:PROBLEM|LP)(?: RELAXATION)? HAS (?<status>NO (?:INTEGER |PRIMAL )?FEASIBLE|NO DUAL FEASIBLE|UNBOUNDED)/,
      facts: { phase: 'finished' },
    },
    { line: /^Time used:\s+(?<seconds>[\d.]+) secs/ },
  ],
};
