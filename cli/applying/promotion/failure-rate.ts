/**
 * Decides while runs end if a version fails more often than the one before. The likelihood ratio of two failure rates is
 * Wald's test (Sequential Tests of Statistical Hypotheses, 1945). If the rate is that of the version before, the ratio
 * reaches 20 with a probability of at most 5 %, however often it is computed (Ville's inequality).
 */

/** The ratio that moves an instance back. */
export const RATIO_LIMIT = 20;
/** The rate that the test detects: this much more than the rate before. */
const RATE_STEP = 0.1;
const RATE_MAX = 0.95;
/** The rate before counts as if one of 20 further runs had failed, so that few runs do not give a rate of 0. */
const PRIOR_FAILURES = 1;
const PRIOR_RUNS = 20;

/** Counts of runs that have ended. */
export interface EndedRuns {
  runs: number;
  failed: number;
}

/** Returns the expected failure rate, from the runs of the version before. */
export function computeExpectedRate({ runs, failed }: EndedRuns): number {
  return (failed + PRIOR_FAILURES) / (runs + PRIOR_RUNS);
}

/** Returns the likelihood ratio of the raised failure rate to the expected one. */
export function computeFailureRatio(before: EndedRuns, after: EndedRuns): number {
  const expected = Math.min(computeExpectedRate(before), RATE_MAX - RATE_STEP);
  const raised = expected + RATE_STEP;
  const succeeded = after.runs - after.failed;
  return (raised / expected) ** after.failed * ((1 - raised) / (1 - expected)) ** succeeded;
}
