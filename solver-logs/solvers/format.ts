/** The language in which the log format of a solver is described. */
import { parseNumber, parsePercentage } from './numbers.ts';

/** The phase of a solve. `search` is branch and bound, local search, or the workers of CP-SAT. */
export type SolvePhase = 'presolve' | 'root' | 'search' | 'finished';

/** How a solve ended. `feasible` ended with a solution that is not proven optimal, for a reason without a name here. */
export type SolveStatus =
  | 'optimal'
  | 'feasible'
  | 'infeasible'
  | 'unbounded'
  | 'infeasible_or_unbounded'
  | 'time_limit'
  | 'interrupted'
  | 'memory_limit'
  | 'error';

/** The numbers of the progress of a solve, in the sense of the model. */
export interface Progress {
  /** Objective of the best solution. */
  objective?: number;
  /** Best proven bound of the objective. */
  bound?: number;
  /** Relative gap as a ratio, as the solver prints it: `0.05` is 5 %. */
  gap?: number;
  /** Explored nodes. */
  nodes?: number;
}

/** Facts that one line states. A missing number is infinite, unknown or not in the line. */
export interface Facts extends Progress {
  /** The solver's own clock: seconds since the start of the solve. */
  seconds?: number;
  /** Phase from this line on. */
  phase?: SolvePhase;
  status?: SolveStatus;
  version?: string;
  threads?: number;
  seed?: number;
  /** 1: larger objectives are better; -1: smaller ones. */
  direction?: 1 | -1;
}

/** What the rules of a format remember from one line to the next. */
export interface RuleMemory {
  /** The part of the log that the last rule with `opens` began. */
  section: string;
  /** -1 after a line which tells that the solver prints the negative numbers of the model. */
  sign: 1 | -1;
  /** The titles of the columns of the current table, for formats whose columns vary. */
  columns: readonly string[];
  /** True once the log says that the model has integer variables. */
  isInteger: boolean;
  /** A number that is believed only if a later line says so. */
  candidate: number | undefined;
  /** Time limit in seconds, where the log states it. */
  limit: number | undefined;
}

/** One kind of line. */
export interface Rule {
  /**
   * Matches the line from its start. Its named groups are the facts: numbers, a gap with its `%`, and a `status` as text.
   * Every repetition has a bound in practice, because lines of more than 1,024 characters are not read.
   */
  line: RegExp;
  /** The rule holds in this section only. */
  section?: string;
  /** The line begins this section. */
  opens?: string;
  /** Facts of every such line. */
  facts?: Facts;
  /** The objective and the bound have the sign of `RuleMemory.sign`. */
  isSigned?: boolean;
  /** Completes or replaces the facts. Undefined: the line is not of this rule. */
  read?: (facts: Facts, memory: RuleMemory, match: RegExpExecArray) => Facts | undefined;
}

/** The log format of one solver. */
export interface LogFormat {
  solver: string;
  /** Begins a solve, whether the solve before it has ended or not. */
  banner: RegExp;
  /** Other lines that only this solver writes. They begin a solve if none is open. */
  start?: RegExp;
  /** The first rule that matches reads the line. */
  rules: readonly Rule[];
  /** The sense of every model of this solver. */
  direction?: 1 | -1;
  /** The solver's log ends without a status, and an end with a solution is `feasible`. */
  isHeuristic?: boolean;
}

/** Words of solvers for a status, the most specific first. A limit without a name of its own is `feasible`. */
const STATUS_WORDS: readonly (readonly [RegExp, SolveStatus])[] = [
  [/infeasible or (?:is )?unbounded|unbounded or infeasible|inforunbd/i, 'infeasible_or_unbounded'],
  [/infeasible|no (?:integer |primal )?feasible|no_feasible/i, 'infeasible'],
  [/unbounded|no dual feasible/i, 'unbounded'],
  [/optimal solution found|gap tolerance|within gap|^gap limit/i, 'optimal'],
  [/time/i, 'time_limit'],
  [/memory/i, 'memory_limit'],
  [/interrupt|abort|ctrl-c|user|cancel/i, 'interrupted'],
  [/optimal|solved/i, 'optimal'],
  [/error|invalid|numeric/i, 'error'],
  [/feasible|limit|stopped|terminated/i, 'feasible'],
];

/** Returns the status that a solver writes in these words; undefined for other words. */
function parseStatus(words: string): SolveStatus | undefined {
  return STATUS_WORDS.find(([pattern]) => pattern.test(words))?.[1];
}

/** Returns the facts without those that are undefined. */
export function collectFacts(facts: { [Name in keyof Facts]: Facts[Name] | undefined }): Facts {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

/** The share of its time limit after which a search that says no more ended by the limit. */
const LIMIT_SHARE = 0.98;

/** Returns true if the clock has reached the time limit of the solve. */
export function reachesLimit({ seconds = 0 }: Facts, limit: number | undefined): boolean {
  return limit !== undefined && seconds >= LIMIT_SHARE * limit;
}

/** Returns `root` until the first node is explored. */
export function choosePhase(nodes: number | undefined): 'root' | 'search' {
  return nodes === undefined || nodes === 0 ? 'root' : 'search';
}

const NUMBER_NAMES = ['objective', 'bound', 'nodes', 'seconds', 'threads', 'seed'] as const;

/** Returns the facts in the named groups of a match. */
function readGroups(groups: Record<string, string | undefined>): Facts {
  const { gap, status, version } = groups;
  const numbers = NUMBER_NAMES.map((name) => [name, parseNumber(groups[name]?.replace(/[,;)]$/, ''))]);
  return collectFacts({
    ...Object.fromEntries(numbers),
    gap: parsePercentage(gap),
    status: status === undefined ? undefined : parseStatus(status),
    version,
  });
}

/** Returns an empty memory, for a new solve. */
export function createMemory(): RuleMemory {
  return { section: '', sign: 1, columns: [], isInteger: false, candidate: undefined, limit: undefined };
}

/** Returns the facts of a line by the first rule that reads it; undefined for a line of none. Changes the memory. */
export function readLine(rules: readonly Rule[], line: string, memory: RuleMemory): Facts | undefined {
  for (const rule of rules) {
    if (rule.section !== undefined && rule.section !== memory.section) continue;
    const match = rule.line.exec(line);
    if (!match) continue;
    const found = { ...rule.facts, ...readGroups(match.groups ?? {}) };
    const facts = rule.read ? rule.read(found, memory, match) : found;
    if (!facts) continue;
    if (rule.opens !== undefined) memory.section = rule.opens;
    return rule.isSigned ? applySign(facts, memory.sign) : facts;
  }
  return undefined;
}

function applySign(facts: Facts, sign: 1 | -1): Facts {
  const { objective, bound } = facts;
  return {
    ...facts,
    // Adding 0 makes a negative zero positive.
    ...(objective !== undefined && { objective: sign * objective + 0 }),
    ...(bound !== undefined && { bound: sign * bound + 0 }),
  };
}
