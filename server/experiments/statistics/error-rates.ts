/** Error rates of the verdicts of an experiment; paired/verdict.ts describes their use. */

/** The error rates of the two parts, and the smallest number of units for a verdict. */
export const FINAL_ALPHA = 0.04;
export const INTERIM_ALPHA = 0.01;
export const VERDICT_UNITS_MIN = 10;
/** Below this p-value of its test, carry-over beyond the design of a switchback test withholds the verdict. */
export const CARRY_OVER_ALPHA = 0.05;
