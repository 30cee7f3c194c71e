/**
 * Wilcoxon's signed-rank test, two-sided. The null hypothesis is that paired differences are symmetric about 0.
 *
 * - The test ignores differences of 0 (Wilcoxon's own method, the default of R and scipy).
 * - Magnitudes that differ by at most one part in 10^9 share the mean of their ranks, so that rounding does not break a
 *   tie.
 * - Up to 100 differences the p-value is exact, also with ties. Dynamic programming over doubled ranks, which are
 *   integers, computes the distribution of the rank sum over all 2^n signs. Above, it is the normal approximation with
 *   the corrections for ties and for continuity.
 * - Below 10 differences there is no p-value by default (the rule of the benchmark evaluator IPET). A caller that counts
 *   ties as inputs may ask for one from fewer differences.
 */
import { normalUpperTail, sum } from './numbers.ts';

/** The result of the test. */
export interface WilcoxonResult {
  /** Differences that are not 0. */
  n: number;
  /** Sum of the ranks of the positive differences. */
  w_plus: number;
  w_minus: number;
  /** Two-sided; null when n is below 10. */
  p_value: number | null;
  method: 'exact' | 'normal';
  /** The standardised w_plus: its distance from the mean by chance, in standard deviations; 0 for no differences. */
  score: number;
}

/** The number of nonzero differences from which the test has a p-value. */
const TEST_PAIRS_MIN = 10;
const EXACT_MAX = 100;
/** Share up to which two magnitudes tie. */
export const TIE_SHARE = 1e-9;

/** Returns the test of differences. `minimum` is the number of nonzero differences from which there is a p-value. */
export function testSignedRanks(differences: ArrayLike<number>, minimum = TEST_PAIRS_MIN): WilcoxonResult {
  const nonzero = Float64Array.from(differences).filter((difference) => difference !== 0);
  const { ranks, groups } = rankMagnitudes(nonzero);
  const doubled = Int32Array.from(ranks, (rank) => 2 * rank);
  const n = nonzero.length;
  const all = n * (n + 1);
  let plus = 0;
  nonzero.forEach((difference, index) => {
    if (difference > 0) plus += doubled[index] ?? 0;
  });
  const method = n <= EXACT_MAX ? 'exact' : 'normal';
  const deviation = Math.sqrt(computeVariance(n, groups));
  const score = n === 0 ? 0 : (plus - all / 2) / 2 / deviation;
  const result = { n, w_plus: plus / 2, w_minus: (all - plus) / 2, method, score } as const;
  if (n < minimum) return { ...result, p_value: null };
  const smaller = Math.min(plus, all - plus);
  const tail =
    method === 'exact'
      ? computeExactTail(doubled, smaller)
      : normalUpperTail(correctForContinuity(score, deviation));
  return { ...result, p_value: Math.min(1, 2 * tail) };
}

/** Returns the rank of each magnitude, and the sizes of the groups of ties. Ties share the mean of their ranks. */
export function rankMagnitudes(values: Float64Array): { ranks: Float64Array; groups: number[] } {
  return rankTied(values.map(Math.abs), (least, other) => other <= least * (1 + TIE_SHARE));
}

/**
 * Returns the rank of each value, from 1 on, and the sizes of the groups of ties. `isTie` compares a value with the least one
 * of a group.
 */
export function rankTied(
  values: Float64Array,
  isTie: (least: number, other: number) => boolean,
): { ranks: Float64Array; groups: number[] } {
  const order = Array.from(values.keys()).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const ranks = new Float64Array(values.length);
  const groups: number[] = [];
  for (let start = 0; start < order.length; ) {
    const least = values[order[start] ?? 0] ?? 0;
    let end = start + 1;
    while (end < order.length && isTie(least, values[order[end] ?? 0] ?? 0)) end += 1;
    for (const index of order.slice(start, end)) ranks[index] = (start + 1 + end) / 2;
    groups.push(end - start);
    start = end;
  }
  return { ranks, groups };
}

/** Returns the probability that a sum over doubled ranks, each included with probability 1/2, is at most `limit`. */
export function computeExactTail(doubled: Int32Array, limit: number): number {
  const probability = new Float64Array(limit + 1);
  probability[0] = 1;
  let reached = 0;
  for (const rank of doubled) {
    reached = Math.min(limit, reached + rank);
    for (let total = reached; total >= 0; total -= 1) {
      const included = total >= rank ? (probability[total - rank] ?? 0) : 0;
      probability[total] = ((probability[total] ?? 0) + included) / 2;
    }
  }
  return sum(probability);
}

/** Returns the variance of a rank sum under the null hypothesis, with the correction for ties. */
function computeVariance(n: number, groups: readonly number[]): number {
  const ties = groups.reduce((total, size) => total + size ** 3 - size, 0);
  return (n * (n + 1) * (2 * n + 1)) / 24 - ties / 48;
}

/** Returns the magnitude of a score, half a rank closer to 0, because rank sums are discrete. */
function correctForContinuity(score: number, deviation: number): number {
  return Math.max(0, Math.abs(score) - 0.5 / deviation);
}
