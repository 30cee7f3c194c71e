/** The address of a comparison: which runs, and whether equal values are visible. */

/** The fewest and the most runs of a comparison. */
export const COMPARED_RUNS_MIN = 2;
export const COMPARED_RUNS_MAX = 10;

export interface CompareSearch {
  /** Ids of the runs, joined by commas. The first is the baseline. */
  runs?: string;
  /** true: show what is equal in all runs as well. */
  all?: true;
}

/** Returns the search parameters of the page. Unknown ones are dropped. */
export function parseSearch(search: Record<string, unknown>): CompareSearch {
  return {
    ...(typeof search.runs === 'string' && search.runs !== '' && { runs: search.runs }),
    ...(search.all === true && { all: true }),
  };
}

/** Returns the ids of the runs, each once and at most `COMPARED_RUNS_MAX`. */
export function listRunIds(runs = ''): string[] {
  return [...new Set(runs.split(',').map((id) => id.trim()))].filter(Boolean).slice(0, COMPARED_RUNS_MAX);
}
