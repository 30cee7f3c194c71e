/** Numbers in the notations of solver logs. */

/** Solvers write infinity as 1e20 (SCIP, HiGHS, CPLEX as a bound), 1e30, 1e50 (CBC), 1e75 or 1e100. */
const INFINITY_THRESHOLD = 1e20;
const UNIT_FACTORS = new Map([
  ['k', 1e3],
  ['m', 1e6],
  ['g', 1e9],
]);
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Returns the number of a token, or undefined if it is infinite, `-`, `---` or no number. Reads `1'234` and `1,234`
 * as thousands, `66,67` as a decimal comma, and `12k`, `3M` as counts.
 */
export function parseNumber(token: string | undefined): number | undefined {
  if (token === undefined || token.length > 40) return undefined;
  let text = token;
  if (text.includes("'") || text.includes(',')) text = normaliseSeparators(text);
  const factor = UNIT_FACTORS.get(text.slice(-1).toLowerCase());
  if (factor !== undefined) text = text.slice(0, -1);
  if (!NUMBER.test(text)) return undefined;
  const value = Number(text) * (factor ?? 1);
  return Math.abs(value) < INFINITY_THRESHOLD ? value : undefined;
}

function normaliseSeparators(text: string): string {
  if (/^[+-]?\d{1,3}(?:[',]\d{3})+(?:\.\d+)?$/.test(text)) return text.replace(/[',]/g, '');
  return text.replace(',', '.');
}

/** Returns a percentage as a ratio: `5.26%` is 0.0526. Undefined for `-`, `inf`, `Large`, or text without `%`. */
export function parsePercentage(token: string | undefined): number | undefined {
  if (token === undefined || !token.endsWith('%')) return undefined;
  const value = parseNumber(token.slice(0, -1));
  // 38.46 / 100 is 0.38460000000000005. Ten digits are more than any solver prints.
  return value === undefined ? undefined : Number((value / 100).toPrecision(10));
}

/** Returns true for `12.3%`, and for the words that solvers write for an infinite gap. */
export function isGap(token: string | undefined): boolean {
  return token !== undefined && /^(?:[\d.,e+-]{1,20}%|-{1,3}|inf|large)$/i.test(token);
}

/** Returns the tokens between white space. */
export function splitTokens(line: string): string[] {
  return line.trim().split(/\s+/);
}
