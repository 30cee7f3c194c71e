/** Logs of CP-SAT. */
import { collectFacts, type Facts, type LogFormat, type RuleMemory, reachesLimit } from './format.ts';
import { parseNumber } from './numbers.ts';

/**
 * Returns the bound of `next:[low,high]`, the range of better objectives. The bound is the end that is farther from the
 * best objective: the low end minimises, the high end maximises. Before a solution the best objective is infinite with
 * the sign of the sense. An empty range proves the best solution optimal.
 */
function chooseBound(best: string, low: string, high: string): Facts {
  if (best === 'inf') return collectFacts({ bound: parseNumber(low), direction: -1 });
  if (best === '-inf') return collectFacts({ bound: parseNumber(high), direction: 1 });
  const objective = parseNumber(best);
  if (low === '') return collectFacts({ bound: objective });
  const lowest = parseNumber(low);
  if (objective === undefined || lowest === undefined) return {};
  return lowest > objective
    ? collectFacts({ bound: parseNumber(high), direction: 1 })
    : { bound: lowest, direction: -1 };
}

function readParameters(_: Facts, memory: RuleMemory, { input }: RegExpExecArray): Facts {
  memory.limit = parseNumber(/\bmax_time_in_seconds: (\S+)/.exec(input)?.[1]);
  return collectFacts({
    threads: parseNumber(/\bnum_(?:search_)?workers: (\d+)/.exec(input)?.[1]),
    seed: parseNumber(/\brandom_seed: (\d+)/.exec(input)?.[1]),
  });
}

/** The response says FEASIBLE or UNKNOWN for every search that ended early. */
function readTime(facts: Facts, { limit }: RuleMemory): Facts {
  return reachesLimit(facts, limit) ? { ...facts, status: 'time_limit' } : facts;
}

/** A search that has proved its answer did not end by the time limit, even if both came at once. */
function readProof(facts: Facts, memory: RuleMemory): Facts {
  memory.limit = undefined;
  return facts;
}

/** The log of CP-SAT 9 (`log_search_progress`). */
export const CP_SAT_FORMAT: LogFormat = {
  solver: 'CP-SAT',
  banner: /Starting CP-SAT solver/,
  start: /#(?:\d+|Bound)\s+[\d.]+s\s+best:|\*\*\* starting to load the model/,
  rules: [
    { line: /^Starting CP-SAT solver v(?<version>[\d.]+)/ },
    { line: /^Parameters: /, read: readParameters },
    { line: /^Starting presolve at (?<seconds>[\d.]+)s/, facts: { phase: 'presolve' } },
    {
      line: /^Starting search at (?<seconds>[\d.]+)s with (?<threads>\d+) workers/i,
      facts: { phase: 'search' },
    },
    {
      // `#1 0.01s best:9181 next:[706,9180] worker`; a line `#Bound` can have an older best than the lines before it.
      line: /^#(?<kind>\d+|Bound)\s+(?<seconds>[\d.]+)s\s+best:(?<best>\S+)\s+next:\[(?<low>[^,\]\s]*),?(?<high>[^,\]\s]*)\]/,
      facts: { phase: 'search' },
      read: (facts, _, { groups: { kind = '', best = '', low = '', high = '' } = {} }) => ({
        ...facts,
        ...chooseBound(best, low, high),
        ...(kind !== 'Bound' && collectFacts({ objective: parseNumber(best) })),
      }),
    },
    { line: /^#\S+\s+(?<seconds>[\d.]+)s / },
    { line: /^CpSolverResponse\b/, opens: 'response', facts: { phase: 'finished' } },
    { line: /^status: OPTIMAL/, section: 'response', facts: { status: 'optimal' }, read: readProof },
    { line: /^status: INFEASIBLE/, section: 'response', facts: { status: 'infeasible' }, read: readProof },
    { line: /^status: MODEL_INVALID/, section: 'response', facts: { status: 'error' } },
    { line: /^status: (?:FEASIBLE|UNKNOWN)/, section: 'response', facts: { status: 'feasible' } },
    { line: /^objective: (?<objective>\S+)/, section: 'response' },
    { line: /^best_bound: (?<bound>\S+)/, section: 'response' },
    { line: /^walltime: (?<seconds>\S+)/, section: 'response', facts: { phase: 'finished' }, read: readTime },
  ],
};
