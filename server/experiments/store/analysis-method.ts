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
 */
import { ANALYSIS_METHOD } from '@switchyard/contract/experiments/experiment-results.ts';

const METHOD_WITHOUT_MARK = '1';

const MARK = '{"method":';

/** Returns the results as JSON, with the method of this release as the first field. */
export function formatResults(results: object): string {
  return JSON.stringify({ method: ANALYSIS_METHOD, ...results });
}

/** Returns stored results with their method. Does not parse them, because they can be megabytes. */
export function markStoredResults(results: string): string {
  return results.startsWith(MARK) ? results : `${MARK}"${METHOD_WITHOUT_MARK}",${results.slice(1)}`;
}

/** Returns the method of an acceptance test that was decided; its row has null for releases without a mark. */
export function readStoredMethod({ method }: { method: string | null }): string {
  return method ?? METHOD_WITHOUT_MARK;
}
