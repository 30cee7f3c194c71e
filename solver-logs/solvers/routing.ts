/** Logs of heuristics for routes and plans, which prove nothing: OR-Tools routing, PyVRP, Timefold and Hexaly. */
import { collectFacts, type Facts, type LogFormat, type RuleMemory, reachesLimit } from './format.ts';
import { parseNumber } from './numbers.ts';

const MS_PER_SECOND = 1000;
const toSeconds = (milliseconds: string | undefined): number | undefined => {
  const value = parseNumber(milliseconds);
  return value === undefined ? undefined : value / MS_PER_SECOND;
};

/** Reads the group `ms`. */
const readMilliseconds = (facts: Facts, _: unknown, { groups }: RegExpExecArray): Facts => ({
  ...facts,
  ...collectFacts({ seconds: toSeconds(groups?.ms) }),
});

/** The log of the routing library of OR-Tools (`log_search`). Guided local search also prints worse solutions. */
export const OR_TOOLS_ROUTING_FORMAT: LogFormat = {
  solver: 'OR-Tools routing',
  direction: -1,
  isHeuristic: true,
  banner: /Start search \(memory used/,
  start: /Solution #\d+ \(\d/,
  rules: [
    { line: /^Start search /, facts: { phase: 'search' } },
    {
      line: /^Solution #\d+ \((?<objective>-?\d+),.* time = (?<ms>\d+) ms/,
      read: readMilliseconds,
      facts: { phase: 'search' },
    },
    {
      line: /^End search \(time = (?<ms>\d+) ms/,
      read: readMilliseconds,
      facts: { phase: 'finished', status: 'feasible' },
    },
  ],
};

/** The log of PyVRP 0.5 to 0.14. */
export const PYVRP_FORMAT: LogFormat = {
  solver: 'PyVRP',
  direction: -1,
  isHeuristic: true,
  banner: /PyVRP v\d/,
  rules: [
    { line: /^PyVRP v(?<version>[\d.]+)/, facts: { phase: 'search' } },
    // Until 0.12: [H] iterations time | count average best | count average best; the first best is feasible.
    { line: /^(?:H\s+)?\d+\s+(?<seconds>[\d.]+)s\s+\|\s+\d+\s+\S+\s+(?<objective>\d\S*)\s+\|/ },
    // [H] iterations time | current ok candidate ok best ok
    { line: /^(?:H\s+)?\d+\s+(?<seconds>[\d.]+)s\s+\|\s+\S+\s+[YN]\s+\S+\s+[YN]\s+(?<objective>\S+)\s+Y$/ },
    { line: /^(?:[A-Z]\s+)?\d+\s+(?<seconds>[\d.]+)s\s+\|/ },
    { line: /^Search terminated in (?<seconds>[\d.]+)s/, facts: { phase: 'finished' } },
    {
      line: /^Best-found solution has cost (?<objective>\d+(?:\.\d+)?)/,
      facts: { phase: 'finished', status: 'feasible' },
    },
    { line: /^Best-found solution is infeasible/, facts: { phase: 'finished', status: 'interrupted' } },
  ],
};

/** A score with these levels is a feasible plan, and its last level is the objective. */
const FEASIBLE_SCORE = /^(?:0hard\/(?:0medium\/)?)?(-?\d+(?:\.\d+)?)(?:soft)?$/;

function readScore(facts: Facts, _: unknown, { groups }: RegExpExecArray): Facts {
  const objective = parseNumber(FEASIBLE_SCORE.exec(groups?.score ?? '')?.[1]);
  const isEnd = facts.phase === 'finished';
  return collectFacts({
    ...facts,
    objective,
    seconds: toSeconds(groups?.ms),
    ...(isEnd && { status: objective === undefined ? ('interrupted' as const) : ('feasible' as const) }),
  });
}

/** The log of Timefold 1 and OptaPlanner 8 and 9. A larger score is better. */
export const TIMEFOLD_FORMAT: LogFormat = {
  solver: 'Timefold',
  direction: 1,
  isHeuristic: true,
  banner: /Solving started: time spent \(/,
  rules: [
    {
      line: /^Solving started: time spent \((?<ms>\d+)\), best score \((?<score>[^)]+)\)/,
      facts: { phase: 'search' },
      read: readScore,
    },
    {
      line: /^Solving ended: time spent \((?<ms>\d+)\), best score \((?<score>[^)]+)\)/,
      facts: { phase: 'finished' },
      read: readScore,
    },
    {
      line: /^[\w ]{1,60} phase \(\d+\) ended: time spent \((?<ms>\d+)\), best score \((?<score>[^)]+)\)/,
      read: readScore,
    },
    {
      line: /^(?:LS|CH) step \(\d+\), time spent \((?<ms>\d+)\), score \([^)]+\),\s+(?:new )?best score \((?<score>[^)]+)\)/,
      read: readScore,
    },
  ],
};

/** Of several objectives, the first one decides. */
const NUMBER_OF_HEXALY = '(?<objective>-?\\d[\\d.e+-]*)\\b';

const readDirection = (facts: Facts, _: unknown, { groups }: RegExpExecArray): Facts => ({
  ...facts,
  direction: groups?.sense === 'maximize' ? 1 : -1,
});

/** The section of the lines after a search that reached its time limit. */
const AT_LIMIT = 'at the limit';

function readTimeLimit(facts: Facts, memory: RuleMemory, { groups }: RegExpExecArray): Facts {
  memory.limit = parseNumber(groups?.limit);
  return facts;
}

function noteLimit(facts: Facts, memory: RuleMemory): Facts {
  if (reachesLimit(facts, memory.limit)) memory.section = AT_LIMIT;
  return facts;
}

/**
 * Reads the outcome of a search. An `Infeasible solution` violates constraints, and the model may have a better one: only an
 * inconsistent model is proven to have none.
 */
function readOutcome(facts: Facts, { section }: RuleMemory, { groups }: RegExpExecArray): Facts {
  if (groups?.outcome === 'Optimal') return { ...facts, status: 'optimal' };
  if (section === AT_LIMIT) return { ...facts, status: 'time_limit' };
  return { ...facts, status: groups?.outcome === 'Feasible' ? 'feasible' : 'interrupted' };
}

/** The log of Hexaly, formerly LocalSolver. Its rows have the objective of the best solution. */
export const HEXALY_FORMAT: LogFormat = {
  solver: 'Hexaly',
  isHeuristic: true,
  banner: /(?:Hexaly Optimizer|LocalSolver) \d/,
  // The libraries print no banner.
  start: /Model:\s+expressions = \d/,
  rules: [
    { line: /^(?:Hexaly Optimizer|LocalSolver) (?<version>[\d.]+)/ },
    { line: /^Model:\s+expressions = \d/, facts: { phase: 'presolve' } },
    { line: /^(?:Param:|Phase \d+:)\s+time limit = (?<limit>\d+) sec/, read: readTimeLimit },
    { line: /^(?:\[objective direction\s*\]|Obj 0):\s+(?<sense>minimize|maximize)/, read: readDirection },
    { line: /^Push initial solutions|^Run (?:solver|optimizer)/, facts: { phase: 'search' } },
    {
      line: new RegExp(
        `^\\[\\s*(?<seconds>\\d+) sec,\\s+\\d+ itr\\]:\\s+(?:obj = \\(\\s*)?${NUMBER_OF_HEXALY}(?! infeas)`,
      ),
      facts: { phase: 'search' },
    },
    { line: /^\[\s*(?<seconds>\d+) sec,\s+\d+ itr\]:/, facts: { phase: 'search' } },
    { line: /^\[\s*optimality gaps?\s*\]:\s+(?<gap>[\d.]+%)/ },
    {
      line: /^\d+ iterations(?:, \d+ moves)? performed in (?<seconds>\d+) seconds/,
      facts: { phase: 'finished' },
      read: noteLimit,
    },
    {
      line: new RegExp(
        `^(?<outcome>Feasible|Optimal|Infeasible) solution:(?:\\s+obj = \\(\\s*${NUMBER_OF_HEXALY})?`,
      ),
      facts: { phase: 'finished' },
      opens: 'report',
      read: readOutcome,
    },
    { line: new RegExp(`^obj\\s+=\\s+${NUMBER_OF_HEXALY}`), section: 'report' },
    { line: /^gap\s+=\s+(?<gap>[\d.]+%)/, section: 'report' },
    { line: /^bounds\s+=\s+(?<bound>-?\d\S*)/, section: 'report' },
    { line: /^Inconsistent model/, facts: { phase: 'finished', status: 'infeasible' } },
    { line: /^No feasible solution found/, facts: { phase: 'finished', status: 'interrupted' } },
  ],
};
