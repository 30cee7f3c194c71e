/** Logs of CPLEX. */
import {
  choosePhase,
  collectFacts,
  type Facts,
  type LogFormat,
  type RuleMemory,
  reachesLimit,
} from './format.ts';
import { parseNumber, parsePercentage, splitTokens } from './numbers.ts';

/** CPLEX writes no thousands. In the language of some systems it writes a comma before decimals. */
function parseCplexNumber(token: string | undefined): number | undefined {
  return parseNumber(token?.replace(',', '.'));
}

/** Returns the tokens with `Cuts: 45`, `Impl Bds: 2` and other labels of the bound column as one `-`. */
function dropCutLabels(line: string): string[] {
  return splitTokens(line.replace(/[A-Z][A-Za-z/ ]{0,30}:\s+\d+/, '-'));
}

/**
 * Returns the two values and whether they begin with the incumbent. Columns are blank where there is no number, so
 * the count of tokens decides: `node left [objective iinf] [incumbent] bound [iterations] [gap]`.
 */
function readRow(line: string): Facts | undefined {
  const isSolution = /^\*?\s*\d+\+/.test(line);
  // The plus of a solution by a heuristic can touch the next column: `* 23310+14499`.
  const tokens = dropCutLabels(line.replace(/^\*?\s*(\d+)\+?/, '$1 '));
  const nodes = parseCplexNumber(tokens.shift());
  const left = parseCplexNumber(tokens.shift());
  if (nodes === undefined || left === undefined || tokens.length < 2) return undefined;
  const gapIndex = tokens.findIndex((token, index) => index > 0 && /^(?:[\d.,]+%|---)$/.test(token));
  // Columns after the gap belong to the branching variable.
  const values = gapIndex < 0 ? tokens : tokens.slice(0, gapIndex);
  if (!dropNodeColumns(values, isSolution)) return undefined;
  const hasIncumbent = gapIndex >= 0;
  const [first, second] = values;
  return collectFacts({
    objective: hasIncumbent ? parseCplexNumber(first) : undefined,
    bound: readBound(hasIncumbent ? second : first, values.length - (hasIncumbent ? 1 : 0)),
    gap: parsePercentage(hasIncumbent ? tokens[gapIndex]?.replace(',', '.') : undefined),
    nodes,
    phase: choosePhase(nodes),
  });
}

/** Removes the objective of the node and its number of infeasibilities. Returns false if they are no such columns. */
function dropNodeColumns(values: string[], isSolution: boolean): boolean {
  if (isSolution) return true;
  const [first = '', second = ''] = values;
  const isPruned = /^(?:infeasible|cutoff)$/.test(first);
  values.splice(0, isPruned ? 1 : 2);
  // CPLEX writes decimals or an exponent in every objective. Counts of other programs have none.
  return isPruned || first === 'integral' || (/[.,]\d+|e[+-]\d/.test(first) && /^\d+$/.test(second));
}

/** Returns the bound, unless the row has only the number of iterations left: `cutoff 1040444.375 111 0.00%`. */
function readBound(token: string | undefined, columns: number): number | undefined {
  if (columns === 1 && /^\d+$/.test(token ?? '')) return undefined;
  return parseCplexNumber(token);
}

/** `MIP - Integer optimal solution: Objective = 1.4e+03`: the objective of a proven optimum is its bound. */
function readEnd(facts: Facts, _: RuleMemory, { groups }: RegExpExecArray): Facts {
  const objective = parseCplexNumber(groups?.value);
  const isProven = facts.status === 'optimal' && !/tolerance/.test(groups?.status ?? '');
  return collectFacts({ ...facts, objective, ...(isProven && { bound: objective }) });
}

/** Through its libraries CPLEX prints no status; its time limit is among the parameters at the start. */
function readLimit(facts: Facts, { limit }: RuleMemory): Facts {
  return reachesLimit(facts, limit) ? { ...facts, status: 'time_limit' } : facts;
}

/** The log of CPLEX 12 to 22. */
export const CPLEX_FORMAT: LogFormat = {
  solver: 'CPLEX',
  banner: /Version identifier: \d|Log started \(V/,
  start: /Tried aggregator \d|CPXPARAM_|Node\s+Left\s+Objective\s+IInf/,
  rules: [
    { line: /^(?:Version identifier: |Log started \(V)(?<version>[\d.]+)/ },
    { line: /^CPXPARAM_Threads\s+(?<threads>\d+)/ },
    {
      line: /^CPXPARAM_TimeLimit\s+(?<limit>\S+)/,
      read: (facts, memory, { groups }) => {
        memory.limit = parseNumber(groups?.limit);
        return facts;
      },
    },
    { line: /^CPXPARAM_RandomSeed\s+(?<seed>\d+)/ },
    {
      line: /^Found incumbent of value (?<value>\S+) after (?<seconds>[\d.,]+) sec/,
      read: (_, __, { groups }) =>
        collectFacts({
          objective: parseCplexNumber(groups?.value),
          seconds: parseCplexNumber(groups?.seconds),
        }),
    },
    { line: /^Node\s+Left\s+Objective/, opens: 'table' },
    { line: /^Root node processing/, opens: 'root' },
    { line: /^(?:Tried aggregator|MIP Presolve)/, facts: { phase: 'presolve' } },
    { line: /^(?:Elapsed time|Solution time) =\s+(?<seconds>[\d.,]+) sec\.(?:.*\bNodes = (?<nodes>\d+))?/ },
    { line: /^[\d*][^|]*[^s|]$/, section: 'table', read: (_, __, { input }) => readRow(input) },
    {
      line: /^MIP - (?<status>.{0,80}?)(?::\s*|\s\s+)Objective =\s+(?<value>\S+)$/,
      facts: { phase: 'finished' },
      read: readEnd,
    },
    { line: /^MIP - (?<status>.{1,80})\.?$/, facts: { phase: 'finished' } },
    {
      line: /^(?:Dual simplex|Primal simplex|Barrier) - (?<status>Optimal)\w*:.*Objective =\s+(?<value>\S+)$/,
      facts: { phase: 'finished' },
      read: readEnd,
    },
    {
      line: /^(?:Dual simplex|Primal simplex|Barrier|Presolve) - (?<status>[\w ]{0,20}(?:Infeasible|Unbounded)[\w ]{0,20})/,
      facts: { phase: 'finished' },
    },
    {
      line: /^Current MIP best bound =\s+(?<low>\S+) \(gap = [^)\s]{1,40} (?<share>[^)\s]{1,20})\)/,
      facts: { phase: 'finished' },
      read: (facts, _, { groups }) =>
        collectFacts({
          ...facts,
          bound: parseCplexNumber(groups?.low),
          gap: parsePercentage(groups?.share?.replace(',', '.')),
        }),
    },
    {
      line: /^Total \(root\+branch&cut\) =\s+(?<seconds>[\d.]+) sec/,
      facts: { phase: 'finished' },
      read: readLimit,
    },
  ],
};
