/** Logs of NVIDIA cuOpt. */
import { choosePhase, type Facts, type LogFormat } from './format.ts';

const addPhase = (facts: Facts): Facts => ({ ...facts, phase: choosePhase(facts.nodes) });

/** The log of cuOpt 25 and 26. */
export const CUOPT_FORMAT: LogFormat = {
  solver: 'cuOpt',
  banner: /cuOpt version: \d/,
  start: /\| Explored \| Unexplored \|/,
  rules: [
    { line: /^cuOpt version: (?<version>[\d.]+)/ },
    { line: /^Solving a problem with /, facts: { phase: 'presolve' } },
    // [mark] explored unexplored objective bound [depth iterations] gap time
    {
      line: /^(?:[A-Z]\s+)?(?<nodes>\d+)\s+\d+\s+(?<objective>[+-]\S+|-)\s+(?<bound>[+-]\S+)\s+(?:\d+\s+[\d.]+\s+)?(?<gap>[\d.]+%|-)\s+(?<seconds>[\d.]+)$/,
      read: addPhase,
    },
    {
      line: /^(?<status>Time limit reached|Optimal solution found|Problem is infeasible|Problem is unbounded)/,
      facts: { phase: 'finished' },
    },
    { line: /^Explored (?<nodes>\d+) nodes in (?<seconds>[\d.]+)s/, facts: { phase: 'finished' } },
    {
      line: /^Absolute Gap \S+ Objective (?<objective>\S+) Lower Bound (?<bound>\S+)/,
      facts: { phase: 'finished' },
      // The search ended by itself if it left no gap.
      read: (facts) =>
        facts.objective === facts.bound && facts.objective !== undefined
          ? { status: 'optimal', ...facts }
          : facts,
    },
    {
      line: /^Status: (?<status>\S+)\s+Objective: (?<objective>\S+)\s+Iterations: \d+\s+Time: (?<seconds>[\d.]+)s/,
      facts: { phase: 'finished' },
    },
  ],
};
