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

/** The largest loss of one unit, as a share, where nobody declares another: twice the value of the control. */
export const LARGEST_LOSS_DEFAULT = 1;

/** Shares of the largest rate 1 / L, with their parts of the wealth at the start. */
const BETS = [
  { rate: 1, part: 1 / 2 },
  { rate: 1 / 2, part: 1 / 4 },
  { rate: 1 / 4, part: 1 / 8 },
  { rate: 1 / 8, part: 1 / 8 },
] as const;

/** The bets on a positive mean, unit by unit. */
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
