/** The address of a comparison: which runs, which part of two runs, and whether equal values are visible. */

/** The fewest and the most runs of a comparison. */
export const COMPARED_RUNS_MIN = 2;
export const COMPARED_RUNS_MAX = 10;

export interface CompareSearch {
  /** Ids of the runs, joined by commas. The first is the baseline. */
  runs?: string;
  /** true: show what is equal in all runs as well. */
  all?: true | undefined;
  /** The visible part of a comparison of two runs; the default is their results. */
  view?: CompareView;
}

const VIEWS = ['results', 'output', 'input', 'log'] as const;
type CompareView = (typeof VIEWS)[number];

/** Returns the search parameters of the page. Unknown ones are dropped. */
export function parseSearch(search: Record<string, unknown>): CompareSearch {
  const view = VIEWS.find((one) => one === search.view);
  return {
    ...(typeof search.runs === 'string' && search.runs !== '' && { runs: search.runs }),
    ...(search.all === true && { all: true }),
    ...(view && { view }),
  };
}

/** Returns the ids of the runs, each once and at most `COMPARED_RUNS_MAX`. */
export function listRunIds(runs = ''): string[] {
  return [...new Set(runs.split(',').map((id) => id.trim()))].filter(Boolean).slice(0, COMPARED_RUNS_MAX);
}
