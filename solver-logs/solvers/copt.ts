/** Logs of COPT. */
import { choosePhase, type Facts, type LogFormat } from './format.ts';

const addPhase = (facts: Facts): Facts => ({ ...facts, phase: choosePhase(facts.nodes) });

/** The log of COPT 5 to 8. */
export const COPT_FORMAT: LogFormat = {
  solver: 'COPT',
  banner: /Cardinal Optimizer v\d[\d.]*\. Build date|Using Cardinal Optimizer v\d/,
  rules: [
    { line: /^(?:Using )?Cardinal Optimizer v(?<version>\d+(?:\.\d+)*)/ },
    { line: /^Minimizing an? \w+ problem/, facts: { direction: -1 } },
    { line: /^Maximizing an? \w+ problem/, facts: { direction: 1 } },
    { line: /^Starting the .* with (?<threads>\d+) threads?/ },
    { line: /^Starting the .* using (?<threads>\d+) threads?/ },
    { line: /^Presolving the problem/, facts: { phase: 'presolve' } },
    // [mark] nodes active iterations infeasibilities bound objective gap time
    {
      line: /^(?:[H*]\s+)?(?<nodes>\d+)\s+\d+\s+\S+\s+\d+\s+(?<bound>\S+)\s+(?<objective>\S+)\s+(?<gap>\S+%|Inf)\s+(?<seconds>[\d.]+)s$/,
      read: addPhase,
    },
    { line: /^Best solution\s+: (?<objective>\S+)/, facts: { phase: 'finished' } },
    { line: /^Best bound\s+: (?<bound>\S+)/, facts: { phase: 'finished' } },
    { line: /^Best gap\s+: (?<gap>\S+)/, facts: { phase: 'finished' } },
    { line: /^Solve time\s+: (?<seconds>\S+)/, facts: { phase: 'finished' } },
    { line: /^Solve node\s+: (?<nodes>\S+)/, facts: { phase: 'finished' } },
    { line: /^MIP status\s+: stopped \((?<status>[^)]+)\)/, facts: { phase: 'finished' } },
    {
      line: /^Solution status : (?:integer )?(?<status>infeasible|unbounded|optimal|feasible)/,
      facts: { phase: 'finished' },
    },
    {
      line: /^Status: (?<status>\S[^:]*?)\s+Objective: (?<objective>\S+)\s+Iterations: \d+\s+Time: (?<seconds>[\d.]+)s/,
      facts: { phase: 'finished' },
    },
  ],
};
