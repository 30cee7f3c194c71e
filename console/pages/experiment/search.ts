/** The state of a result page in its address. */

export interface ExperimentSearch {
  /** Name of the candidate that the page compares with the control; the default is the first. */
  candidate?: string;
  /** Indicator of the pictures; the default is the primary one. */
  indicator?: string;
  /** Feature of the inputs by which a picture shows the effect; the default is the first. */
  feature?: string;
  /** Id of the ensemble whose runs a picture shows; the default is the first. */
  ensemble?: string;
}

const KEYS = ['candidate', 'indicator', 'feature', 'ensemble'] as const;

/** Returns the search parameters of the page. Unknown and empty ones are dropped. */
export function parseSearch(search: Record<string, unknown>): ExperimentSearch {
  const parsed: ExperimentSearch = {};
  for (const key of KEYS) {
    const value = search[key];
    if (typeof value === 'string' && value !== '') parsed[key] = value;
  }
  return parsed;
}
