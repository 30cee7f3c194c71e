/** The state of the list of experiments in its address. */
import { type ExperimentType, parseExperimentType } from '../../ui/experiments/experiment-types.ts';

export interface ExperimentsSearch {
  /** Only experiments of this type; the default is all. */
  type?: ExperimentType;
}

/** Returns the search parameters of the page. Unknown ones are dropped. */
export function parseSearch(search: Record<string, unknown>): ExperimentsSearch {
  const type = parseExperimentType(search.type);
  return type ? { type } : {};
}
