/** Logs of CPLEX. */
import { choosePhase, collectProgress, parseNumber, parsePercentage, splitTokens } from './numbers.ts';
import type { LogFormat, ParsedLine } from './progress.ts';

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
function parseRow(line: string): ParsedLine | undefined {
  const isSolution = /^\s*\*?\s*\d+\+/.test(line);
  // The plus of a solution by a heuristic can touch the next column: `* 23310+14499`.
  const tokens = dropCutLabels(line.replace(/^\s*\*?\s*(\d+)\+?/, '$1 '));
  const nodes = parseCplexNumber(tokens.shift());
  const left = parseCplexNumber(tokens.shift());
  if (nodes === undefined || left === undefined || tokens.length < 2) return undefined;
  const gapIndex = tokens.findIndex((token, index) => index > 0 && /^(?:[\d.,]+%|---)$/.test(token));
  // Columns after the gap belong to the branching variable.
  const values = gapIndex < 0 ? tokens : tokens.slice(0, gapIndex);
  if (!dropNodeColumns(values, isSolution)) return undefined;
  const hasIncumbent = gapIndex >= 0;
  const [first, second] = values;
  const progress = collectProgress({
    objective: hasIncumbent ? parseCplexNumber(first) : undefined,
    bound: parseBound(hasIncumbent ? second : first, values.length - (hasIncumbent ? 1 : 0)),
    gap: parsePercentage(hasIncumbent ? tokens[gapIndex]?.replace(',', '.') : undefined),
    nodes,
  });
  return { progress, phase: choosePhase(nodes) };
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
function parseBound(token: string | undefined, columns: number): number | undefined {
  if (columns === 1 && /^\d+$/.test(token ?? '')) return undefined;
  return parseCplexNumber(token);
}

function parseSummary(line: string): ParsedLine | undefined {
  const optimum = /^(?:MIP - |Dual simplex - Optimal|Primal simplex - Optimal).*Objective =\s+(\S+)$/.exec(
    line,
  )?.[1];
  if (optimum !== undefined) {
    const objective = parseCplexNumber(optimum);
    if (objective === undefined) return { progress: {}, phase: 'finished' };
    const isProven = line.startsWith('MIP - Integer optimal solution');
    return { progress: isProven ? { objective, bound: objective } : { objective }, phase: 'finished' };
  }
  const [, bound, gap] =
    /^Current MIP best bound =\s+(\S+) \(gap = [^)\s]{1,40} ([^)\s]{1,20})\)/.exec(line) ?? [];
  if (bound !== undefined) {
    const progress = collectProgress({
      objective: undefined,
      bound: parseCplexNumber(bound),
      gap: parsePercentage(gap?.replace(',', '.')),
      nodes: undefined,
    });
    return { progress, phase: 'finished' };
  }
  return parseTimes(line);
}

function parseTimes(line: string): ParsedLine | undefined {
  const nodes = parseNumber(/^Solution time =.*\bNodes = (\d+)/.exec(line)?.[1]);
  if (nodes !== undefined) return { progress: { nodes }, phase: 'finished' };
  return /^(?:Total \(root\+branch&cut\)|MIP - )/.test(line)
    ? { progress: {}, phase: 'finished' }
    : undefined;
}

/** The log of CPLEX 12 to 22. */
export const CPLEX_FORMAT: LogFormat = {
  solver: 'CPLEX',
  start:
    /^\s*(?:Tried aggregator \d|CPXPARAM_|Version identifier: \d|Log started \(V|Node\s+Left\s+Objective\s+IInf)/,
  banner: /^\s*(?:Version identifier: \d|Log started \(V)/,
  createParser: () => {
    let isTable = false;
    return (line) => {
      const objective = parseCplexNumber(/^Found incumbent of value (\S+) after/.exec(line)?.[1]);
      if (objective !== undefined) return { progress: { objective } };
      if (/^\s*Node\s+Left\s+Objective/.test(line)) isTable = true;
      else if (/^(?:Tried aggregator|MIP Presolve)/.test(line) && !isTable)
        return { progress: {}, phase: 'presolve' };
      else if (/^Root node processing/.test(line)) isTable = false;
      else
        return (
          (isTable && /^\s*[\d*][^|]*[^s|]$/.test(line) ? parseRow(line) : undefined) ?? parseSummary(line)
        );
      return { progress: {} };
    };
  },
};
