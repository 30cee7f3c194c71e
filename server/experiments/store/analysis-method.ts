/**
 * Marks the results of experiments with the method of analysis that computed them, because stored results are not computed
 * again. Pure.
 *
 * - 1: releases without a mark. Failed runs left the comparison, and the mean difference decided.
 * - 2026-11: failed runs are outcomes, ratios of inputs decide, and p-values are corrected for all indicators.
 */

/** The method of this release. Change it with every change after which equal runs can get another verdict. */
const ANALYSIS_METHOD = '2026-11';
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
