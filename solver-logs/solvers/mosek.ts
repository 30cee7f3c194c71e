/** Logs of MOSEK. */
import { collectFacts, type LogFormat } from './format.ts';
import { parsePercentage } from './numbers.ts';

/** The log of MOSEK 9 to 11. */
export const MOSEK_FORMAT: LogFormat = {
  solver: 'MOSEK',
  banner: /MOSEK Version \d/,
  start: /BRANCHES\s+RELAXS\s+ACT_NDS/,
  rules: [
    { line: /^MOSEK Version (?<version>[\d.]+)/ },
    { line: /^Threads used: (?<threads>\d+)/ },
    { line: /^Presolve started/, facts: { phase: 'presolve' } },
    { line: /^Mixed integer optimizer started/, facts: { phase: 'root' } },
    // branches relaxations active depth objective bound gap time
    {
      line: /^(?<nodes>\d+)\s+\d+\s+\d+\s+\d+\s+(?<objective>\S+)\s+(?<bound>\S+)\s+(?<share>\S+)\s+(?<seconds>[\d.]+)$/,
      facts: { phase: 'search' },
      read: (facts, _, { groups }) => ({
        ...facts,
        ...collectFacts({ gap: parsePercentage(`${groups?.share}%`) }),
      }),
    },
    { line: /^An optimal solution satisfying/, facts: { phase: 'finished', status: 'optimal' } },
    {
      line: /^The (?:problem|model) is (?:\w+ )?(?<status>infeasible|unbounded)/,
      facts: { phase: 'finished' },
    },
    { line: /^Optimizer terminated because of (?<status>.*limit|user)/, facts: { phase: 'finished' } },
    {
      line: /^(?:Mixed integer optimizer|Optimizer) terminated\. +Time: (?<seconds>[\d.]+)/,
      facts: { phase: 'finished' },
    },
    { line: /^Objective of best integer solution : (?<objective>\S+)/, facts: { phase: 'finished' } },
    { line: /^Best objective bound\s+: (?<bound>\S+)/, facts: { phase: 'finished' } },
    {
      line: /^Solution status\s*: (?:PRIMAL_INFEASIBLE_CER|PRIMAL_INFEASIBLE)/,
      facts: { status: 'infeasible', phase: 'finished' },
    },
    {
      line: /^Solution status\s*: (?:DUAL_INFEASIBLE_CER|DUAL_INFEASIBLE)/,
      facts: { status: 'unbounded', phase: 'finished' },
    },
    {
      line: /^Solution status\s*: (?:INTEGER_)?OPTIMAL/,
      facts: { status: 'optimal', phase: 'finished' },
      opens: 'optimal',
    },
    { line: /^Primal\.\s+obj: (?<objective>\S+)/, section: 'optimal' },
  ],
};
