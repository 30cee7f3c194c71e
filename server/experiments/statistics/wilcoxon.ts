/**
 * Wilcoxon's signed-rank test, two-sided: do paired differences lie symmetrically about 0?
 *
 * - Differences of 0 are left out (Wilcoxon's own way, the default of R and scipy).
 * - Magnitudes that differ by no more than one part in 10^9 share the mean of their ranks, so that rounding cannot untie
 *   what is tied.
 * - Up to 100 differences the p-value is exact, also with ties: the distribution of the rank sum over all 2^n signs, by
 *   dynamic programming over doubled ranks, which are whole numbers. Above, it is the normal approximation with the
 *   corrections for ties and for continuity.
 * - Below 10 differences there is no answer (the rule of the benchmark evaluator IPET): too few can hardly ever be
 *   significant, and are too easily so by accident of choice.
 */
import { normalUpperTail, sum } from './numbers.ts';

/** What the test says. */
export interface WilcoxonResult {
  /** Differences that are not 0. */
  n: number;
  /** Sum of the ranks of the positive differences. */
  w_plus: number;
  w_minus: number;
  /** Two-sided; null when n is below 10. */
  p_value: number | null;
  method: 'exact' | 'normal';
  /** How many standard deviations w_plus lies above what chance would give; 0 for no differences. */
  score: number;
}

export const TEST_PAIRS_MIN = 10;
const EXACT_MAX = 100;
const TIE = 1e-9;

/** The test of differences; `least` is the number of differences from which it answers. */
export function wilcoxonSignedRank(differences: ArrayLike<number>, least = TEST_PAIRS_MIN): WilcoxonResult {
  const nonzero = Float64Array.from(differences).filter((difference) => difference !== 0);
  const { doubled, groups } = doubledRanks(nonzero);
  const n = nonzero.length;
  const all = n * (n + 1);
  let plus = 0;
  nonzero.forEach((difference, index) => {
    if (difference > 0) plus += doubled[index] ?? 0;
  });
  const method = n <= EXACT_MAX ? 'exact' : 'normal';
  const deviation = Math.sqrt(varianceOf(n, groups));
  const score = n === 0 ? 0 : (plus - all / 2) / 2 / deviation;
  const answer = { n, w_plus: plus / 2, w_minus: (all - plus) / 2, method, score } as const;
  if (n < least) return { ...answer, p_value: null };
  const smaller = Math.min(plus, all - plus);
  const tail =
    method === 'exact' ? exactTail(doubled, smaller) : normalUpperTail(corrected(score, deviation));
  return { ...answer, p_value: Math.min(1, 2 * tail) };
}

/** Twice the rank of each magnitude, ties sharing the mean of theirs, and the sizes of the groups of ties. */
function doubledRanks(nonzero: Float64Array): { doubled: Int32Array; groups: number[] } {
  const magnitudes = nonzero.map(Math.abs);
  const order = Array.from(magnitudes, (_, index) => index).sort(
    (a, b) => (magnitudes[a] ?? 0) - (magnitudes[b] ?? 0),
  );
  const doubled = new Int32Array(nonzero.length);
  const groups: number[] = [];
  for (let start = 0; start < order.length; ) {
    const least = magnitudes[order[start] ?? 0] ?? 0;
    let end = start + 1;
    while (end < order.length && (magnitudes[order[end] ?? 0] ?? 0) <= least * (1 + TIE)) end += 1;
    for (const index of order.slice(start, end)) doubled[index] = start + 1 + end;
    groups.push(end - start);
    start = end;
  }
  return { doubled, groups };
}

/** The probability that a sum over ranks, each taken or not by a fair coin, is at most `limit`. */
function exactTail(doubled: Int32Array, limit: number): number {
  const probability = new Float64Array(limit + 1);
  probability[0] = 1;
  let reached = 0;
  for (const rank of doubled) {
    reached = Math.min(limit, reached + rank);
    for (let total = reached; total >= 0; total -= 1) {
      const taken = total >= rank ? (probability[total - rank] ?? 0) : 0;
      probability[total] = ((probability[total] ?? 0) + taken) / 2;
    }
  }
  return sum(probability);
}

/** The variance of a rank sum by chance, with the correction for ties. */
function varianceOf(n: number, groups: readonly number[]): number {
  const ties = groups.reduce((total, size) => total + size ** 3 - size, 0);
  return (n * (n + 1) * (2 * n + 1)) / 24 - ties / 48;
}

/** The magnitude of a score, half a rank nearer to 0: sums come in steps. */
function corrected(score: number, deviation: number): number {
  return Math.max(0, Math.abs(score) - 0.5 / deviation);
}

/**
 * p-values adjusted by Holm's step-down rule, in the order given; null stays null and does not count. Of all that are
 * below 5 % after it, the chance that even one is a false finding is at most 5 %.
 */
export function adjustHolm(pValues: readonly (number | null)[]): (number | null)[] {
  const known = pValues.flatMap((p, index) => (p === null ? [] : [{ p, index }])).sort((a, b) => a.p - b.p);
  const adjusted: (number | null)[] = pValues.map(() => null);
  let largest = 0;
  known.forEach(({ p, index }, place) => {
    largest = Math.max(largest, Math.min(1, p * (known.length - place)));
    adjusted[index] = largest;
  });
  return adjusted;
}
