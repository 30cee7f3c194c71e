/**
 * Marks the results of experiments with the method of analysis that computed them, because stored results are not computed
 * again. Pure.
 *
 * - 1: releases without a mark. Failed runs left the comparison, and the mean difference decided.
 * - 2026-11: failed runs are outcomes, ratios of inputs decide, and p-values are corrected for all indicators.
 * - 2026-11.2: related neighbours exclude a verdict from a short series, and a large slow change from a long one. Inputs of
 *   a period count as a series if their neighbours resemble each other.
 * - 2026-11.3: deleted runs exclude a verdict of a switchback test. A canceled run of a candidate is a lost input of an
 *   acceptance test. Differences that ties hide count against equivalence. A switchback test does not adjust for a time that
 *   is the plan itself.
 * - 2026-11.4: a canceled or deleted repetition leaves its pair without an outcome, and above 1 % of the pairs there is no
 *   verdict and no rule is met. Runs that joined a batch do not decide, and a side whose instance was changed has no verdict.
 *   Failures count where the sides ran different repetitions. Deleted copies exclude a verdict of a shadow test, and lost
 *   rounds that of a version in a bisect experiment.
 * - 2026-11.5: inputs that contents or values show to be versions of each other are tested by group, or have no verdict.
 *   Before the planned end, every verdict but `worse` needs evidence about the mean, and so does a race that drops a
 *   configuration. Inputs of which fewer than six differ have no interval, unless the objective bounds the change of one.
 *   Inputs that all tie are same, not equivalent.
 *   One test of sign flips decides in place of three that had to agree, and the interval agrees with it. Up to 20 inputs, a
 *   batch or scenario test has no verdict before its end, and the whole 5 % there. Equal runs have equal p-values.
 *   The detectable difference takes the upper limit of the variance, and counts dependent inputs by their clusters.
 *   Intervals of totals are wider where a few inputs are much larger than the others. A switchback test has no verdict for
 *   carry-over beyond its design at 1 %, no longer at 5 %.
 *   Units of a switchback test that all tie are same too. One of up to 12 coins spends the whole 5 % at its end.
 */
import type { Decision } from '@switchyard/contract/experiments/comparisons/decisions.ts';
import { ANALYSIS_METHOD } from '@switchyard/contract/experiments/experiment-results.ts';

const METHOD_WITHOUT_MARK = '1';

const MARK = '{"method":';

/** Returns the results as JSON, with the method of this release as the first field. */
export function formatResults(results: object): string {
  return JSON.stringify({ method: ANALYSIS_METHOD, ...results });
}

/** Returns results that are JSON already, with the method and the decision as their first fields. */
export function joinResults({ json, decision }: { json: string; decision?: Decision }): string {
  const head = formatResults(decision === undefined ? {} : { decision });
  return `${head.slice(0, -1)},${json.slice(1)}`;
}

/** Returns stored results with their method. Does not parse them, because they can be megabytes. */
export function markStoredResults(results: string): string {
  return results.startsWith(MARK) ? results : `${MARK}"${METHOD_WITHOUT_MARK}",${results.slice(1)}`;
}

/** Returns the method of an acceptance test that was decided; its row has null for releases without a mark. */
export function readStoredMethod({ method }: { method: string | null }): string {
  return method ?? METHOD_WITHOUT_MARK;
}
