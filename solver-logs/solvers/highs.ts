/** Logs of HiGHS. */
import { choosePhase, type LogFormat } from './format.ts';

/** The log of HiGHS 1.x. The report follows the search, and states its status before its numbers. */
export const HIGHS_FORMAT: LogFormat = {
  solver: 'HiGHS',
  banner: /Running HiGHS |Presolving model$/,
  start: /Src\s+Proc\. InQueue|Nodes\s+\|\s+B&B Tree/,
  rules: [
    { line: /^Running HiGHS (?<version>[\d.]+)/ },
    { line: /^Set option threads to (?<threads>\d+)/ },
    { line: /^Set option random_seed to (?<seed>\d+)/ },
    { line: /^Presolving model$/, facts: { phase: 'presolve' } },
    { line: /^\( *(?<seconds>[\d.]+)s\) (?:Starting|No) symmetry/ },
    // [source] processed queue leaves explored bound objective gap cuts rows conflicts iterations time
    {
      line: /^(?:[A-Za-z]\s+)?(?<nodes>\d\S*)\s+\S+\s+\S+\s+[\d.]+%\s+(?<bound>\S+)\s+(?<objective>\S+)\s+(?<gap>[\d.]+%|inf|Large|-)\s+(?:\S+\s+){4}(?<seconds>[\d.]+)s$/,
      read: (facts) =>
        facts.nodes === undefined ? undefined : { ...facts, phase: choosePhase(facts.nodes) },
    },
    { line: /^Solving report/, opens: 'report', facts: { phase: 'finished' } },
    { line: /^Status\s+(?<status>\S.*)$/, section: 'report' },
    { line: /^Primal bound\s+(?<objective>\S+)/, section: 'report' },
    { line: /^Dual bound\s+(?<bound>\S+)/, section: 'report' },
    { line: /^Gap\s+(?<gap>[\d.]+%)/, section: 'report' },
    { line: /^Nodes\s+(?<nodes>\d+)/, section: 'report' },
    { line: /^Timing\s+(?<seconds>[\d.]+)/, section: 'report' },
    // The lines of a linear program.
    { line: /^Problem status detected on presolve: (?<status>Infeasible)$/, facts: { phase: 'finished' } },
    { line: /^\d+\s+\S+\s+Ph?[r1]: .* (?<seconds>[\d.]+)s$/ },
    { line: /^Model\s+status\s*:\s*(?<status>\S.*)$/, facts: { phase: 'finished' } },
    { line: /^Objective value\s*:\s+(?<objective>\S+)$/, facts: { phase: 'finished' } },
    { line: /^HiGHS run time\s*:\s+(?<seconds>\S+)$/, facts: { phase: 'finished' } },
  ],
};
