/** Error rates of the verdicts of an experiment; comparison/verdict.ts describes their use. */

/** The error rates of the two parts, and the smallest number of units for a verdict. */
export const FINAL_ALPHA = 0.04;
export const INTERIM_ALPHA = 0.01;
/** Experiments of at most so many units have no verdict before their end, and spend both parts there. */
export const SMALL_UNITS_MAX = 20;

/** The same for switchback tests, in coins: each is one bet before the end, and 12 seldom suffice. */
export const SMALL_COINS_MAX = 12;

/** Returns the error rate of the verdict at the planned end of an experiment of so many units or coins. */
export function chooseFinalAlpha(count: number, smallMax = SMALL_UNITS_MAX): number {
  return count <= smallMax ? FINAL_ALPHA + INTERIM_ALPHA : FINAL_ALPHA;
}

/** Returns the error rate of the verdict at the planned end of an experiment of this size. It never rises with the size. */
export type ChooseRate = (size: number) => number;

/** Returns the smallest size that suffices at its own error rate; `countAt` returns the one that suffices at a given rate. */
export function findSizeAtOwnRate(countAt: (rate: number) => number, chooseRate: ChooseRate): number {
  const smallest = countAt(chooseRate(0));
  return countAt(chooseRate(smallest));
}

export const VERDICT_UNITS_MIN = 10;
/** With fewer values that differ, beside others that tie, nothing shows how much unseen ones may differ. */
export const DIFFERING_MIN = 6;
/** The confidence of statements about other inputs than those that ran. */
export const OTHERS_CONFIDENCE = 0.95;

/** Returns the largest share of others that may differ, with 95 % confidence, when none of `units` does: 0.26 for 10. */
export function boundUnseenShare(units: number): number {
  return units === 0 ? 1 : 1 - (1 - OTHERS_CONFIDENCE) ** (1 / units);
}
/**
 * Below this p-value of its test, carry-over beyond the design of a switchback test withholds the verdict. At 5 %, one in
 * twenty sound tests had none. The pretest protects a verdict little (Freeman, Statistics in Medicine 1989): the units after
 * a switch, which do not count, protect it.
 */
export const CARRY_OVER_ALPHA = 0.01;
