/**
 * The interval of a mean whose values cannot lie beyond a known bound. It holds for every distribution within the bound,
 * also for values that no unit of the sample has. Without a bound there is no such interval (Bahadur and Savage, Annals of
 * Mathematical Statistics 1956).
 *
 * It is the hedged capital of Waudby-Smith and Ramdas ("Estimating means of bounded random variables by betting", Journal
 * of the Royal Statistical Society B 2024). For each possible mean m, one gambler bets on values above m, and another on
 * values below. A capital of 2/α at any time excludes m, which happens to the true mean with a probability of at most α.
 * Bets use the variance of the earlier values, so that the interval is narrow where most values are equal.
 */

import type { Interval } from './bootstrap.ts';
import { bisect, mean } from './numbers.ts';

/** A bet risks at most this share of the capital. */
const STAKE_MAX = 0.75;
const BISECTION_STEPS = 60;

/**
 * Returns the interval of the mean of values between -`bound` and +`bound`, in the order of the plan. It contains the mean
 * of the sample. Throws a RangeError for a value beyond the bound.
 */
export function estimateBoundedMeanInterval(
  values: Float64Array,
  bound: number,
  confidence: number,
): Interval {
  if (values.some((value) => Math.abs(value) > bound)) throw new RangeError('A value is beyond the bound.');
  const shares = values.map((value) => (value / bound + 1) / 2);
  const threshold = Math.log(2 / (1 - confidence));
  const bets = listBets(shares, threshold);
  const scaleBack = (share: number) => (2 * share - 1) * bound;
  const estimate = mean(values);
  const high = findEnd(shares, bets, threshold);
  // Mirrored values have the same variances, so that they get the same bets.
  const low =
    1 -
    findEnd(
      shares.map((share) => 1 - share),
      bets,
      threshold,
    );
  return { low: Math.min(estimate, scaleBack(low)), high: Math.max(estimate, scaleBack(high)) };
}

/** Returns the predictable bet on each value: the one that wins most for the variance of the values before it. */
function listBets(shares: Float64Array, threshold: number): Float64Array {
  let [sum, squares] = [1 / 2, 1 / 4];
  return shares.map((share, index) => {
    const variance = squares / (index + 1);
    sum += share;
    squares += (share - sum / (index + 2)) ** 2;
    return Math.sqrt((2 * threshold) / (shares.length * variance));
  });
}

/** Returns the smallest mean that the bets on lower values exclude; 1 when they exclude none. */
function findEnd(shares: Float64Array, bets: Float64Array, threshold: number): number {
  const isOutside = (middle: number) => isExcluded(middle, shares, bets, threshold);
  return bisect({ inside: 0, outside: 1 }, isOutside, BISECTION_STEPS).outside;
}

function isExcluded(centre: number, shares: Float64Array, bets: Float64Array, threshold: number): boolean {
  let capital = 0;
  for (let index = 0; index < shares.length; index += 1) {
    const bet = Math.min(bets[index] ?? 0, STAKE_MAX / (1 - centre));
    capital += Math.log1p(bet * (centre - (shares[index] ?? 0)));
    if (capital >= threshold) return true;
  }
  return false;
}

/** The largest loss of one unit, as a share, where nobody declares another: twice the value of the control. */
export const LARGEST_LOSS_DEFAULT = 1;

/** Shares of the largest rate 1 / L, with their parts of the wealth at the start. */
const BETS = [
  { rate: 1, part: 1 / 2 },
  { rate: 1 / 2, part: 1 / 4 },
  { rate: 1 / 4, part: 1 / 8 },
  { rate: 1 / 8, part: 1 / 8 },
] as const;

/**
 * Evidence that a mean change is a gain, although losses that were not seen may be large.
 *
 * Let x be the change of the next unit as a share, positive for a gain and at least -L, whatever the earlier units were.
 * Let its mean be at most 0, and λ between 0 and 1 / L inclusive. Then the mean of 1 + λx is at most 1, and the product over
 * the units is the wealth of a bet that is fair at best. The method is that of Waudby-Smith and Ramdas (Journal of the Royal
 * Statistical Society B, 2024). By Ville's inequality the wealth ever reaches 1/α with probability at most α.
 * The bet needs no symmetry: a gain of 1 % on 95 % of the units and a loss of 19 % on the others has the mean 0.
 *
 * An average over several λ is such a bet too. Half of the wealth is on 1 / L, which is best for gains above their noise.
 */
export class MeanBets {
  readonly #largestLoss: number;
  readonly #wealths: number[] = BETS.map(({ part }) => part);
  /** The e-value against a mean of 0 or less. */
  evidence = 1;

  constructor(largestLoss: number) {
    this.#largestLoss = largestLoss;
  }

  /** Adds the change of a unit; infinite for a unit that one side lost, which counts as the largest loss or gain. */
  add(change: number): void {
    if (change === 0) return;
    const share = Number.isFinite(change) ? change / this.#largestLoss : Math.sign(change);
    this.evidence = 0;
    for (const [index, { rate }] of BETS.entries()) {
      // A loss beyond the largest one takes all of a bet, which never owes anything.
      const wealth = (this.#wealths[index] ?? 0) * Math.max(0, 1 + rate * share);
      this.#wealths[index] = wealth;
      this.evidence += wealth;
    }
  }
}
