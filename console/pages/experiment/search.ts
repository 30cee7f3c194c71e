/** The state of a result page in its address. */

export interface ExperimentSearch {
  /** Name of the candidate that the page compares with the control; the default is the first. */
  candidate?: string;
  /** Indicator of the pictures; the default is the primary one. */
  indicator?: string;
}

/** Returns the search parameters of the page. Unknown ones are dropped. */
export function parseSearch(search: Record<string, unknown>): ExperimentSearch {
  return {
    ...(typeof search.candidate === 'string' && { candidate: search.candidate }),
    ...(typeof search.indicator === 'string' && { indicator: search.indicator }),
  };
}
