/** Logs of CBC. */
import { collectFacts, type Facts, type LogFormat, type Rule, type RuleMemory } from './format.ts';
import { parseNumber } from './numbers.ts';

/** CBC prints the negative numbers of a model that maximises, and says so on its command line or when it reads the model. */
const SENSE: Rule = {
  line: /^command line - /,
  read: (_, memory, { input }) => {
    if (/ -max/.test(input)) memory.sign = -1;
    return collectFacts({
      threads: parseNumber(/ -threads (\d+)/.exec(input)?.[1]),
      seed: parseNumber(/ -randomC(?:bcSeed)? (\d+)/.exec(input)?.[1]),
    });
  },
};

const REFORMULATED: Rule = {
  line: /^.{0,60}Maximization problem reformulated as minimization/,
  read: (_, memory) => {
    memory.sign = -1;
    return {};
  },
};

/** The bound of a completed search is its objective. */
const proveOptimal = (facts: Facts): Facts => ({ ...facts, ...collectFacts({ bound: facts.objective }) });

/** The result rounds the bound to three decimals, the message of the search does not. */
function skipKnownBound(facts: Facts, { section }: RuleMemory): Facts {
  return section === 'ended' ? {} : facts;
}

/** The lines with the result, in the sense of the model. `Gap` is not read: it is negative for models that maximise. */
const RESULT: readonly Rule[] = [
  { line: /^Result - (?<status>\S.*)$/, facts: { phase: 'finished' } },
  { line: /^Problem (?:is|proven) (?<status>infeasible|unbounded)/, facts: { phase: 'finished' } },
  { line: /^Pre-processing says (?<status>infeasible or unbounded)$/, facts: { phase: 'finished' } },
  {
    line: /^PrimalInfeasible objective .* time (?<seconds>\S+)$/,
    facts: { phase: 'finished', status: 'infeasible' },
  },
  {
    line: /^DualInfeasible objective .* time (?<seconds>\S+)$/,
    facts: { phase: 'finished', status: 'unbounded' },
  },
  {
    line: /^Optimal objective (?<objective>\S+) - \d+ iterations time (?<seconds>[\d.]+)/,
    facts: { phase: 'finished', status: 'optimal' },
  },
  { line: /^Objective value:\s+(?<objective>\S+)/, facts: { phase: 'finished' } },
  { line: /^(?:Lower|Upper) bound:\s+(?<bound>\S+)/, facts: { phase: 'finished' }, read: skipKnownBound },
  { line: /^Enumerated nodes:\s+(?<nodes>\S+)/, facts: { phase: 'finished' } },
  {
    line: /^Total time \(CPU seconds\):.*\(Wallclock seconds\):\s+(?<seconds>\S+)/,
    facts: { phase: 'finished' },
  },
  { line: /^Total time \(Wallclock seconds\):\s+(?<seconds>\S+)/ },
];

/** The log of CBC 2.x. Its messages have a number, and mostly the time in parentheses at their end. */
export const CBC_FORMAT: LogFormat = {
  solver: 'CBC',
  banner: /Welcome to the CBC MILP Solver/,
  start: /Continuous objective value is |Cbc00(?:04|10|12|13|16|38)I /,
  rules: [
    { line: /^Version: (?<version>[\d.]+)/ },
    SENSE,
    REFORMULATED,
    { line: /^Cgl00/, facts: { phase: 'presolve' } },
    {
      line: /^Continuous objective value is (?<bound>\S+) - (?<seconds>\S+) seconds/,
      facts: { phase: 'root' },
    },
    {
      line: /^Cbc00(?:04|12|16)I Integer solution of (?<objective>\S+) found .*? and (?<nodes>\S+) nodes(?: \((?<seconds>\S+) seconds\))?/,
      isSigned: true,
      facts: { phase: 'search' },
    },
    {
      line: /^Cbc0010I After (?<nodes>\S+) nodes, \S+ on tree, (?<objective>\S+) best solution, best possible (?<bound>\S+)(?: \((?<seconds>\S+) seconds\))?/,
      isSigned: true,
      facts: { phase: 'search' },
    },
    {
      line: /^Cbc0013I At root node, .* changed objective from \S+ to (?<bound>\S+) in/,
      isSigned: true,
      facts: { phase: 'root' },
    },
    { line: /^Cbc0038I .*\((?<seconds>[\d.]+) seconds\)/ },
    {
      line: /^Cbc0005I Partial search - best objective (?<objective>\S+) \(best possible (?<bound>\S+)\), took \S+ iterations and (?<nodes>\S+) nodes(?: \((?<seconds>\S+) seconds\))?/,
      isSigned: true,
      opens: 'ended',
      facts: { phase: 'finished' },
    },
    {
      line: /^Cbc0001I Search completed - best objective (?<objective>\S+), took \S+ iterations and (?<nodes>\S+) nodes(?: \((?<seconds>\S+) seconds\))?/,
      isSigned: true,
      opens: 'ended',
      facts: { phase: 'finished' },
      read: proveOptimal,
    },
    ...RESULT,
  ],
};

/** The log of CBC 3, which has tables and the numbers of the model. */
export const CBC_3_FORMAT: LogFormat = {
  solver: 'CBC',
  banner: /CBC (?:devel|3[.\d]*) .*COIN-OR Branch and Cut/,
  start: /▶ Problem loading/,
  rules: [
    { line: /^CBC (?<version>\S+) / },
    { line: /^▶ (?:Root LP relaxation|Preprocessing)/, facts: { phase: 'presolve' } },
    {
      line: /^▶ (?:Feasibility pump|Root node heuristics|Cut generation)/,
      facts: { phase: 'root' },
      opens: 'root',
    },
    { line: /^▶ Branch and bound/, facts: { phase: 'search' }, opens: 'search' },
    { line: /^Bound tightening: INFEASIBLE/, facts: { phase: 'finished', status: 'infeasible' } },
    { line: /^✔ Preprocessing infeasible/, facts: { phase: 'finished', status: 'infeasible_or_unbounded' } },
    // ★ round pass fractional suminf "b&b solution" objective time
    { line: /^★\s+\d+\s+\d+\s+\d+\s+\S+\s+\D+?\s(?<objective>\S+)\s+(?<seconds>[\d.]+)$/, section: 'root' },
    // pass rows tight fractional suminf bound time
    { line: /^\d+\s+\d+\s+\d+\s+\d+\s+[\d.]+\s+(?<bound>\S+)\s+(?<seconds>[\d.]+)$/, section: 'root' },
    // [★] nodes open depth objective [method] bound gap time
    {
      line: /^(?:★\s+)?(?<nodes>\d+)\s+\d+\s+\d+\s+(?<objective>\S+)\s+(?:\D.{0,24}?\s)??(?<bound>-?[\d.]\S*)\s+(?<gap>\S+%|-+)\s+(?<seconds>[\d.]+)$/,
      section: 'search',
    },
    {
      line: /^✔ (?<status>\w[^—]{0,60}) — (?:Obj|BestSol): (?<objective>\S+)\s+Bound: (?<bound>\S+)\s+Gap: (?<gap>\S+)\s+Nodes: (?<nodes>\S+)\s.*Time: (?<seconds>[\d.]+)s/,
      opens: 'ended',
      facts: { phase: 'finished' },
    },
    ...RESULT,
  ],
};
