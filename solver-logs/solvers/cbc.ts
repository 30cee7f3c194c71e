/** Logs of CBC. */
import { collectProgress, parseNumber } from './numbers.ts';
import type { LogFormat, ParsedLine, Progress, SolvePhase } from './progress.ts';

interface Message {
  pattern: RegExp;
  phase: SolvePhase;
  /** The names of the pattern's groups, in order. */
  names: readonly (keyof Progress)[];
}

/** The messages of the search. CBC negates the numbers of a model that maximises. */
const MESSAGES: readonly Message[] = [
  {
    pattern: /^Cbc00(?:04|12|16)I Integer solution of (\S+) found .*? and (\S+) nodes/,
    phase: 'search',
    names: ['objective', 'nodes'],
  },
  {
    pattern: /^Cbc0010I After (\S+) nodes, \S+ on tree, (\S+) best solution, best possible (\S+)/,
    phase: 'search',
    names: ['nodes', 'objective', 'bound'],
  },
  {
    pattern: /^Cbc0013I At root node, .* changed objective from \S+ to (\S+) in/,
    phase: 'root',
    names: ['bound'],
  },
  {
    pattern:
      /^Cbc0005I Partial search - best objective (\S+) \(best possible (\S+)\), took \S+ iterations and (\S+) nodes/,
    phase: 'finished',
    names: ['objective', 'bound', 'nodes'],
  },
  {
    pattern: /^Cbc0001I Search completed - best objective (\S+), took \S+ iterations and (\S+) nodes/,
    phase: 'finished',
    names: ['objective', 'nodes'],
  },
];

/** The lines of the result, in the sense of the model. `Gap` is not read: it is negative for models that maximise. */
const RESULTS: readonly Message[] = [
  { pattern: /^Objective value:\s+(\S+)/, phase: 'finished', names: ['objective'] },
  { pattern: /^(?:Lower|Upper) bound:\s+(\S+)/, phase: 'finished', names: ['bound'] },
  { pattern: /^Enumerated nodes:\s+(\S+)/, phase: 'finished', names: ['nodes'] },
];

function matchMessage(line: string, messages: readonly Message[], sign: 1 | -1): ParsedLine | undefined {
  for (const { pattern, phase, names } of messages) {
    const groups = pattern.exec(line);
    if (!groups) continue;
    const read = (name: keyof Progress) => {
      const index = names.indexOf(name);
      return index < 0 ? undefined : parseNumber(groups[index + 1]?.replace(/,$/, ''));
    };
    const orient = (value: number | undefined) => (value === undefined ? undefined : value * sign);
    const progress = collectProgress({
      objective: orient(read('objective')),
      bound: orient(read('bound')),
      gap: undefined,
      nodes: read('nodes'),
    });
    return { progress, phase };
  }
  return undefined;
}

/** A completed search proves its best objective optimal, so that it is the bound as well. */
function proveOptimal(parsed: ParsedLine): ParsedLine {
  const { objective } = parsed.progress;
  return objective === undefined ? parsed : { ...parsed, progress: { ...parsed.progress, bound: objective } };
}

/** The log of CBC 2.x. */
export const CBC_FORMAT: LogFormat = {
  solver: 'CBC',
  start: /^\s*(?:Welcome to the CBC MILP Solver|Continuous objective value is |Cbc00(?:04|10|12|13|16|38)I )/,
  banner: /^\s*Welcome to the CBC MILP Solver/,
  createParser: () => {
    let sign: 1 | -1 = 1;
    let hasFinalBound = false;
    return (line) => {
      if (/^\s*(?:command line - .* -max|.*Maximization problem reformulated as minimization)/.test(line)) {
        sign = -1;
        return { progress: {} };
      }
      if (line.startsWith('Cgl00')) return { progress: {}, phase: 'presolve' };
      const parsed = matchMessage(line, MESSAGES, sign);
      if (parsed) {
        hasFinalBound = parsed.phase === 'finished';
        return line.startsWith('Cbc0001I') ? proveOptimal(parsed) : parsed;
      }
      // The result rounds the bound to three decimals, the message before it does not.
      return hasFinalBound && /^(?:Lower|Upper) bound:/.test(line)
        ? { progress: {} }
        : matchMessage(line, RESULTS, 1);
    };
  },
};
